// Requests to a collector: no cookies, no referrer, no redirects, and the same bytes in every
// attempt to send a report.

import { unhex } from "../bytes.js";
import { MismatchError, UnavailableError } from "../errors.js";
import type { Document } from "../wire/codec.js";
import { isDocument, parse } from "../wire/codec.js";
import type { Posting, Receipt } from "./outbox.js";

const PRIVATE = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" } as const;
const MAX_KEEPALIVE = 60_000; // bytes of a request that may outlive its page
const TIMEOUT = 30; // seconds
const MAX_CODE = 200; // characters
const RETRY = { wait: 0, unavailable: false };

export interface PublishedTask {
  readonly text: string;
  /** The digest that the collector states, if the page may see it. */
  readonly etag: string | undefined;
}

/** Returns the document of a task as the collector publishes it. */
export async function fetchTask(url: string, name: string): Promise<PublishedTask> {
  const response = await get(taskUrl(url, name), "default");
  const etag = response.headers.get("ETag")?.replace(/^W\//, "").replace(/^"|"$/g, "");
  return { text: await response.text(), etag };
}

/** Returns the state and the current round of a task. */
export async function fetchRound(url: string, name: string): Promise<Document> {
  const response = await get(`${taskUrl(url, name)}/round`, "no-store");
  return parse(await response.text());
}

/** Sends one message and returns what became of it; never throws. */
export async function send({ url, name, message, token }: Posting): Promise<Receipt> {
  const reports = [base64(unhex(message))];
  const body = JSON.stringify({ reports, ...(token && { tokens: [token] }) });
  try {
    const response = await fetch(`${taskUrl(url, name)}/reports`, {
      ...PRIVATE,
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      cache: "no-store",
      keepalive: body.length < MAX_KEEPALIVE,
      signal: AbortSignal.timeout(1000 * TIMEOUT),
    });
    if (response.ok) return receiptOf(await response.json());
    const unavailable = response.status === 429 || response.status >= 500;
    return { wait: retryAfter(response), unavailable };
  } catch (error) {
    return { ...RETRY, unavailable: !(error instanceof SyntaxError) };
  }
}

/** Any other answer, such as the page of a hotel, leads to another attempt. */
function receiptOf(answer: unknown): Receipt {
  if (!isDocument(answer) || !Array.isArray(answer.refused)) return RETRY;
  const [refusal] = answer.refused;
  if (isDocument(refusal) && refusal.retry === false)
    return { refused: String(refusal.code).slice(0, MAX_CODE) };
  const arrived = answer.accepted === 1 || answer.duplicates === 1;
  return arrived && !isDocument(refusal) ? "sent" : RETRY;
}

function retryAfter({ headers }: Response): number {
  const text = headers.get("Retry-After") ?? "";
  const isNumber = /^\d{1,9}$/.test(text);
  const seconds = isNumber ? +text : (Date.parse(text) - Date.now()) / 1000;
  return seconds > 0 ? seconds : 0;
}

async function get(url: string, cache: RequestCache): Promise<Response> {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(1000 * TIMEOUT);
    response = await fetch(url, { ...PRIVATE, cache, signal });
  } catch (error) {
    throw new UnavailableError("the collector cannot be reached: try again later", {
      cause: error,
    });
  }
  if (response.status === 404) throw new MismatchError("this collector has no task of this name");
  if (!response.ok)
    throw new UnavailableError(
      `the collector answered with status ${response.status}: try again later`,
    );
  return response;
}

function taskUrl(url: string, name: string): string {
  return `${url}/v1/tasks/${encodeURIComponent(name)}`;
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
