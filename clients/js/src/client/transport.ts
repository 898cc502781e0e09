// Requests to a collector: no cookies, no referrer, no redirects, nothing from a cache that could
// tell one device from another, and the same bytes in every attempt to send a report.

import { unhex } from "../bytes.js";
import { MAX_DOCUMENT_BYTES } from "../core/bounds.js";
import {
  AccessError,
  CodecError,
  MismatchError,
  SottovoceError,
  StateError,
  UnavailableError,
} from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import type { Document, Json } from "../wire/codec.js";
import { isDocument, parse } from "../wire/codec.js";
import type { Receipt } from "./outbox.js";

const PRIVATE = {
  cache: "no-store",
  credentials: "omit",
  redirect: "error",
  referrerPolicy: "no-referrer",
} as const;
const STATES = ["open", "closing", "sealed", "finished"];
const MAX_KEEPALIVE = 60_000; // bytes of a request that may outlive its page
const MAX_CODE = 200; // characters

export const DEFAULT_TIMEOUT = 30; // seconds

/** Where the documents of a collector are, and how many seconds one exchange with it may take. */
export interface Address {
  readonly url: string;
  readonly timeout: number;
}

export interface PublishedTask {
  readonly text: string;
  /** The digest that the collector states, if the page may see it. */
  readonly etag: string | undefined;
}

/** Returns the document of a task as the collector publishes it. */
export async function fetchTask(address: Address, name: string): Promise<PublishedTask> {
  const { text, headers } = await get(pathUrl(address.url, [name]), address.timeout);
  const etag = headers.get("ETag")?.replace(/^W\//, "").replace(/^"|"$/g, "");
  return { text, etag };
}

/** What a collector says about the present: the state of a task, and the round that it asks. */
export interface Present {
  readonly state: string;
  readonly round: Json;
}

/** Returns the state and the current round of the task with a digest. */
export async function fetchRound(address: Address, { name, digest }: Notice): Promise<Present> {
  const { text } = await get(pathUrl(address.url, [name, "round"]), address.timeout);
  const content = parse(text);
  const { state = null, round = null } = content;
  if (Object.keys(content).sort().join() !== "digest,round,state")
    throw new CodecError("the collector's answer must have a digest, a state and a round");
  if (typeof state !== "string" || !STATES.includes(state))
    throw new CodecError(`the state of a task must be one of ${STATES.join(", ")}`);
  if (content.digest !== digest)
    throw new MismatchError("the collector asks a round of another task than expected");
  return { state, round };
}

/** Posts one message to a path of tasks and returns what became of it; never throws. */
export async function send(
  address: Address,
  path: readonly string[],
  message: string,
  token?: string,
): Promise<Receipt> {
  const reports = [base64(unhex(message))];
  const body = JSON.stringify({ reports, ...(token && { tokens: [token] }) });
  try {
    const response = await fetch(pathUrl(address.url, path), posted(body, address.timeout));
    if (response.ok) return receiptOf(await boundedText(response));
    const isBusy = response.status === 429 || response.status >= 500;
    const reason = isBusy ? "busy" : "unexpected";
    return { reason, unavailable: isBusy, wait: retryAfter(response) };
  } catch {
    return { reason: "unreachable", unavailable: true, wait: 0 };
  }
}

function posted(body: string, timeout: number): RequestInit {
  return {
    ...PRIVATE,
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    keepalive: body.length < MAX_KEEPALIVE,
    signal: AbortSignal.timeout(1000 * timeout),
  };
}

/** Any other answer, such as the page of a hotel, leads to another attempt. */
function receiptOf(text: string): Receipt {
  const failure = { reason: "unexpected", unavailable: false, wait: 0 };
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return failure;
  }
  if (!isDocument(answer) || !Array.isArray(answer.refused)) return failure;
  const [refusal] = answer.refused;
  if (isDocument(refusal)) {
    const code = String(refusal.code).slice(0, MAX_CODE);
    return refusal.retry === false ? { refused: code } : { ...failure, reason: code };
  }
  return answer.accepted === 1 || answer.duplicates === 1 ? "sent" : failure;
}

function retryAfter({ headers }: Response): number {
  const text = headers.get("Retry-After") ?? "";
  const isNumber = /^\d{1,9}$/.test(text);
  const seconds = isNumber ? +text : (Date.parse(text) - Date.now()) / 1000;
  return seconds > 0 ? seconds : 0;
}

/** Returns the document in the answer to a request about a task; `content` is posted if given. */
export async function exchange(
  { url, timeout }: Address,
  path: readonly string[],
  content?: Document,
): Promise<Document> {
  const address = pathUrl(url, path);
  const request = content && posted(JSON.stringify(content), timeout);
  return parse((await get(address, timeout, request)).text);
}

/** Returns text and headers; one deadline holds for the whole exchange. */
async function get(
  url: string,
  timeout: number,
  request: RequestInit = { ...PRIVATE, signal: AbortSignal.timeout(1000 * timeout) },
): Promise<{ text: string; headers: Headers }> {
  try {
    const response = await fetch(url, request);
    const { status, ok, headers } = response;
    const code = ok ? "" : await problemCode(response);
    if (code === "not-ready") throw new StateError("the collector is not ready: try again later");
    if (code.startsWith("token-")) throw new AccessError(`the collector refuses: ${code}`);
    if (status === 404) throw new MismatchError("this collector has no task of this name");
    if (!ok)
      throw new UnavailableError(`the collector answered with status ${status}: try again later`);
    return { text: await boundedText(response), headers };
  } catch (error) {
    if (error instanceof SottovoceError) throw error;
    throw new UnavailableError("the collector cannot be reached: try again later", {
      cause: error,
    });
  }
}

/** Returns the code of a problem document, or an empty text. */
async function problemCode(response: Response): Promise<string> {
  try {
    return String(parse(await boundedText(response)).code);
  } catch {
    return "";
  }
}

/** Returns the text of a response, and reads no further than a document may be long. */
async function boundedText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (const reader = body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
    if (bytes <= MAX_DOCUMENT_BYTES) continue;
    await reader.cancel();
    throw new CodecError(`an answer of a collector may have at most ${MAX_DOCUMENT_BYTES} bytes`);
  }
  return text + decoder.decode();
}

function pathUrl(url: string, path: readonly string[]): string {
  return `${url}/v1/tasks/${path.map(encodeURIComponent).join("/")}`;
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
