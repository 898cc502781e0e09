// What a ledger holds, and the rules of spending: plain data and pure functions, alike wherever it is stored.

import { hex, unhex } from "../bytes.js";
import { repr, rounded, stated } from "../maths/decimal.js";
import { BudgetError, need } from "../errors.js";
import type { Remembered } from "./permanent.js";

/** The most that may be charged, in epsilon and in number of charges, within any so many seconds. */
export interface Window {
  readonly seconds: number;
  readonly epsilon: number;
  readonly reports: number;
}

/** What one answer costs; an epsilon of 0.0 is that of a rehearsal, and a lasting one pays for every round. */
export interface Spend {
  readonly task: string;
  readonly name: string;
  readonly epsilon: string;
  readonly round: number;
  readonly lasting: boolean;
}

export interface Charge {
  readonly task: string;
  readonly name: string;
  readonly epsilon: string;
  readonly time: number;
}

/** What a device keeps about one task; bytes are hex. */
export interface Page {
  coin?: string;
  secret?: string;
  /** By the number of the round. */
  messages: Record<string, string>;
  /** By the number of the slot. */
  memo: Record<string, Remembered[]>;
}

/** A message on its way. */
export interface Parcel {
  readonly url: string;
  readonly name: string;
  readonly task: string;
  readonly round: number;
  readonly report: string;
  readonly token?: string;
  /** It waits from one time to the other; a clock set back meanwhile does not make it wait longer. */
  posted: number;
  due: number;
  /** Whether somebody is sending it while it waits. */
  busy: boolean;
  attempts: number;
}

/** A message that the collector does not want, or that never got through. */
export interface Refused {
  readonly name: string;
  readonly task: string;
  readonly round: number;
  readonly code: string;
}

export interface Book {
  version: 1;
  cap: string;
  windows: Window[];
  charges: Charge[];
  pages: Record<string, Page>;
  /** Tasks that the owner has opted out of; an empty name stands for all. */
  left: string[];
  queue: Parcel[];
  refused: Refused[];
}

export interface Limits {
  /** The most that this device reveals in its life, settled when the ledger is made; by default 10. */
  cap?: number;
  /** May be added later, and are never taken away. */
  windows?: Window[];
}

/** Returns the book as it was stored, or a new one. */
export function opened(stored: Book | undefined, { cap = stored ? +stored.cap : 10, windows = [] }: Limits): Book {
  if (stored && stored.version !== 1)
    throw new BudgetError("this ledger was written by a newer version of this software");
  const limits = windows.flatMap(({ seconds, epsilon, reports }) => [seconds, epsilon, reports]);
  need(
    cap >= 0 && [cap + 1, ...limits].every((limit) => limit > 0 && isFinite(limit)),
    "a cap is at least 0, a window's limits are above 0",
  );
  const book = stored ?? {
    version: 1,
    cap: repr(cap),
    windows: [],
    charges: [],
    pages: {},
    left: [],
    queue: [],
    refused: [],
  };
  need(+book.cap === cap, "this ledger was opened with another cap; a cap is never changed afterwards");
  const known = book.windows.map(spelled);
  book.windows.push(...windows.filter((one) => !known.includes(spelled(one))));
  return book;
}

/** Charges for a message, makes it and keeps it; raises before it overspends or answers twice. */
export function answered(book: Book, spend: Spend, now: number, make: () => Uint8Array): Uint8Array {
  refuseAgain(book, spend);
  charge(book, spend, now);
  const message = make();
  pageOf(book, spend.task).messages[spend.round] = hex(message);
  return message;
}

export function refuseAgain(book: Book, { task, round, lasting }: Omit<Spend, "name" | "epsilon">): void {
  const { messages } = pageOf(book, task);
  if (lasting ? round in messages : Object.keys(messages).length) {
    throw new BudgetError("this device has already answered; resend() repeats the same bytes");
  }
}

/** Returns the page of a task, or refuses because the owner has opted out. */
export function pageOf(book: Book, task: string): Page {
  if (book.left.includes("") || book.left.includes(task))
    throw new BudgetError("the owner of this device has opted out");
  return (book.pages[task] ??= { messages: {}, memo: {} });
}

/** Returns the bytes that are kept under a name: those that came first. */
export function kept(page: Page, name: "coin" | "secret", bytes: Uint8Array): Uint8Array {
  return unhex((page[name] ??= hex(bytes)));
}

/** Returns the sum of some charges in units of 10^-324: ten tenths are one. */
export function total(charges: readonly Charge[]): bigint {
  return charges.reduce((sum, one) => sum + stated(one.epsilon), 0n);
}

/** Erases what a task, or every task, may still send or build on, for good; what was charged stays charged. */
export function leave(book: Book, task: string): void {
  book.left.push(task);
  for (const one of Object.keys(book.pages)) if (!task || one === task) delete book.pages[one];
  book.queue = book.queue.filter((one) => task && one.task !== task);
}

function charge({ cap, windows, charges }: Book, { task, name, epsilon }: Spend, now: number): void {
  const wanted = stated(epsilon);
  if (!wanted || charges.some((one) => one.task === task)) return; // a rehearsal, or paid for before
  const left = stated(cap) - total(charges);
  if (wanted > left)
    throw new BudgetError(`this task costs epsilon ${epsilon}; of the cap of ${cap} only ${rounded(left)} is left`);
  // A clock that was set back stands still until it has caught up with the last charge: it refills nothing.
  const time = charges.reduce((latest, one) => Math.max(latest, one.time), now);
  for (const { seconds, epsilon: most, reports } of windows) {
    const recent = charges.filter((one) => one.time > time - seconds);
    if (recent.length >= reports || total(recent) + wanted > stated(repr(most))) {
      throw new BudgetError(
        `within ${seconds} seconds this device answers at most ${reports} times, for epsilon ${most} together`,
      );
    }
  }
  charges.push({ task, name, epsilon, time });
}

function spelled({ seconds, epsilon, reports }: Window): string {
  return `${seconds} ${epsilon} ${reports}`;
}
