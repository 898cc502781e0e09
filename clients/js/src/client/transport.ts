// Requests to a collector: no cookies, no referrer, no redirects, and the same bytes however often they are sent.

import type { Parcel } from "./ledger_file.js";
import { unhex } from "../bytes.js";
import type { Content } from "../wire/codec.js";
import { isContent, parse } from "../wire/codec.js";
import { MismatchError, UnavailableError } from "../errors.js";
import type { Outcome } from "./outbox.js";

const MANNERS = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" } as const;
const KEPT_ALIVE = 60_000; // bytes of a request that may outlive its page
const SECONDS = 30;
const LATER = { wait: 0, away: false };

export interface Published {
  readonly text: string;
  /** The digest that the collector names, if it can be seen. */
  readonly tag: string | undefined;
}

/** Returns the document of a task as the collector publishes it. */
export async function fetchTask(url: string, name: string): Promise<Published> {
  const response = await get(address(url, name), "default");
  const tag = response.headers.get("ETag")?.replace(/^W\//, "").replace(/^"|"$/g, "");
  return { text: await response.text(), tag };
}

/** Returns which round a task is in. */
export async function fetchRound(url: string, name: string): Promise<Content> {
  return parse(await (await get(`${address(url, name)}/round`, "no-store")).text());
}

/** Sends one message and says what became of it; never throws. */
export async function post({ url, name, report, token }: Parcel): Promise<Outcome> {
  const body = JSON.stringify({ reports: [base64(unhex(report))], ...(token && { tokens: [token] }) });
  try {
    const response = await fetch(`${address(url, name)}/reports`, {
      ...MANNERS,
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      cache: "no-store",
      keepalive: body.length < KEPT_ALIVE,
      signal: AbortSignal.timeout(1000 * SECONDS),
    });
    const away = response.status === 429 || response.status >= 500;
    return response.ok ? verdict(await response.json()) : { wait: retryAfter(response), away };
  } catch (error) {
    return { ...LATER, away: !(error instanceof SyntaxError) };
  }
}

/** A stranger's answer, such as a hotel's page, says nothing: the collector may still want the message. */
function verdict(answer: unknown): Outcome {
  if (!isContent(answer) || !Array.isArray(answer.refused)) return LATER;
  const [refused] = answer.refused;
  if (isContent(refused)) return refused.retry === false ? { refused: String(refused.code).slice(0, 200) } : LATER;
  return answer.accepted === 1 || answer.duplicates === 1 ? "sent" : LATER;
}

function retryAfter({ headers }: Response): number {
  const after = headers.get("Retry-After") ?? "";
  const seconds = /^\d{1,9}$/.test(after) ? +after : (Date.parse(after) - Date.now()) / 1000;
  return seconds > 0 ? seconds : 0;
}

async function get(where: string, cache: RequestCache): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(where, { ...MANNERS, cache, signal: AbortSignal.timeout(1000 * SECONDS) });
  } catch (error) {
    throw new UnavailableError("the collector cannot be reached: try again later", { cause: error });
  }
  if (response.status === 404) throw new MismatchError("this collector has no such task");
  if (!response.ok)
    throw new UnavailableError(`the collector answered with status ${response.status}: try again later`);
  return response;
}

function address(url: string, name: string): string {
  return `${url}/v1/tasks/${encodeURIComponent(name)}`;
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
