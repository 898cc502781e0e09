// Messages on their way: kept in the book, sent when due, given up after a fixed number of attempts.

import type { Book, Parcel } from "./ledger_file.js";
import { BudgetError } from "../errors.js";

/**
 * What became of one attempt: it arrived, the collector does not want it, or may want it after so many seconds;
 * `away` says that others need not be tried now.
 */
export type Outcome = "sent" | { refused: string } | { wait: number; away: boolean };

const MOST_WAITING = 100;
const MOST_ATTEMPTS = 8;
const BUSY = 60; // seconds after which a sender that said nothing is taken for dead

export function enqueue(
  book: Book,
  parcel: Omit<Parcel, "posted" | "due" | "busy" | "attempts">,
  now: number,
  delay: number,
): void {
  if (book.queue.length >= MOST_WAITING)
    throw new BudgetError(`${MOST_WAITING} reports wait for the network already: nothing was charged`);
  book.queue.push({ ...parcel, posted: now, due: now + delay, busy: false, attempts: 0 });
}

/** Returns the messages that are due, or all that nobody is sending. */
export function due(book: Book, url: string, now: number, force: boolean): Parcel[] {
  return book.queue.filter((one) => one.url === url && !(waits(one, now) && (one.busy || !force)));
}

/** Returns a message marked as being sent, or nothing if somebody was faster. */
export function claim(book: Book, { report }: Parcel, now: number): Parcel | undefined {
  const parcel = book.queue.find((one) => one.report === report);
  if (!parcel || (parcel.busy && waits(parcel, now))) return undefined;
  return Object.assign(parcel, { posted: now, due: now + BUSY, busy: true, attempts: parcel.attempts + 1 });
}

/** Enters what became of an attempt, and returns what becomes of the message. */
export function settle(book: Book, { report }: Parcel, outcome: Outcome, now: number): "sent" | "refused" | "waiting" {
  const parcel = book.queue.find((one) => one.report === report);
  if (!parcel) return "sent"; // by another tab, or its owner has opted out meanwhile
  const { name, task, round, attempts } = parcel;
  if (outcome !== "sent" && "wait" in outcome && attempts < MOST_ATTEMPTS) {
    Object.assign(parcel, { posted: now, due: now + outcome.wait, busy: false });
    return "waiting";
  }
  book.queue.splice(book.queue.indexOf(parcel), 1);
  if (outcome === "sent") return "sent";
  const code = "refused" in outcome ? outcome.refused : "gave-up";
  book.refused = [...book.refused, { name, task, round, code }].slice(-MOST_WAITING);
  return "refused";
}

/** Returns in how many seconds the next message is due, or nothing. */
export function next(book: Book, url: string, now: number): number | undefined {
  const waits = book.queue
    .filter((one) => one.url === url)
    .map((one) => (one.posted <= now ? Math.max(0, one.due - now) : 0));
  return waits.length ? Math.min(...waits) : undefined;
}

function waits({ posted, due }: Parcel, now: number): boolean {
  return posted <= now && now < due;
}
