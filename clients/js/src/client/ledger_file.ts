// What a ledger stores, as plain data: budget, answers, coins, remembered responses and outbox.
// The format is the same in a file, in IndexedDB and in memory.

import { hex, unhex } from "../bytes.js";
import { BudgetError, need } from "../errors.js";
import { shortest } from "../maths/exact.js";
import type { Budget, Spend, SpendingWindow } from "../tasks/budget.js";
import { charge } from "../tasks/budget.js";
import type { KnownMeaning } from "./accepts.js";
import type { RefusedReport, Report } from "./outbox.js";
import type { PermanentResponse } from "./permanent.js";

export const MESSAGE_DAYS = 30; // after which the bytes of a message that arrived are erased

const VERSION = 1;
const DEFAULT_CAP = 10;
const EVERY_TASK = "";
const DAY = 86_400; // seconds

/** A message in hexadecimal.  It is erased some time after it arrived, and then empty. */
export interface KeptMessage {
  bytes: string;
  /** When the collector acknowledged it. */
  acknowledged?: number;
}

/** What a device keeps about one task; bytes are written in hexadecimal. */
export interface TaskEntry {
  coin?: string;
  secret?: string;
  /** An unfinished blind token: nonce, salt and factor, until the issuer has signed. */
  pending?: string;
  /** The finished blind token. */
  token?: string;
  /** By round number. */
  messages: Record<string, KeptMessage>;
  /** By slot. */
  responses: Record<string, PermanentResponse[]>;
}

export interface LedgerFile extends Budget {
  version: number;
  tasks: Record<string, TaskEntry>;
  /** The digests of the tasks that the owner has opted out of; an empty text stands for all. */
  optedOut: string[];
  outbox: Report[];
  refused: RefusedReport[];
  /** What every task asked when it was first answered. */
  meanings: KnownMeaning[];
}

export interface Limits {
  /** The most that this device reveals in its life; fixed when the ledger is made. */
  cap?: number;
  /** Windows may be added later and are never removed. */
  windows?: SpendingWindow[];
}

/** Returns the error of a ledger that has been here and is gone, or was cut. */
export function goneError(): BudgetError {
  return new BudgetError(
    "this device has had a ledger that is gone or cut, so what it has spent is not known: " +
      "nothing is sent; restore it, or remove the marker to begin anew",
  );
}

/** Returns the stored file, or a new one, with the windows added. */
export function openLedgerFile(stored: LedgerFile | undefined, limits: Limits): LedgerFile {
  if (stored && stored.version !== VERSION)
    throw new BudgetError("this ledger was written by a newer version of this software");
  const { cap = stored ? +stored.cap : DEFAULT_CAP, windows = [] } = limits;
  need(cap >= 0 && isFinite(cap), "`cap` must be a number of at least 0");
  for (const { seconds, epsilon, reports } of windows)
    need(
      [seconds, epsilon, reports].every((limit) => limit > 0 && isFinite(limit)),
      "`seconds`, `epsilon` and `reports` of a window must be above 0",
    );
  const file = stored ?? newLedgerFile(cap);
  need(+file.cap === cap, "`cap` of a ledger cannot be changed after it was made");
  const known = file.windows.map(windowKey);
  file.windows.push(...windows.filter((window) => !known.includes(windowKey(window))));
  return file;
}

function newLedgerFile(cap: number): LedgerFile {
  return {
    version: VERSION,
    cap: shortest(cap),
    windows: [],
    charges: [],
    tasks: {},
    optedOut: [],
    outbox: [],
    refused: [],
    meanings: [],
  };
}

function windowKey({ seconds, epsilon, reports }: SpendingWindow): string {
  return `${seconds} ${epsilon} ${reports}`;
}

/** Charges for a message, makes it and keeps it; refuses to overspend and to answer twice. */
export function answerOnce(
  file: LedgerFile,
  spend: Spend,
  now: number,
  make: () => Uint8Array,
): Uint8Array {
  refuseAgain(file, spend);
  charge(file, spend, now);
  const message = make();
  taskEntry(file, spend.task).messages[spend.round] = { bytes: hex(message) };
  return message;
}

export function refuseAgain(
  file: LedgerFile,
  { task, round, longitudinal }: Pick<Spend, "task" | "round" | "longitudinal">,
): void {
  const { messages } = taskEntry(file, task);
  const answered = longitudinal ? round in messages : Object.keys(messages).length;
  if (answered)
    throw new BudgetError(
      `this device has already answered this ${longitudinal ? "round" : "task"}; ` +
        "resend() repeats the same bytes",
    );
}

/** Notes that a message has arrived; nothing is noted if the owner has opted out meanwhile. */
export function acknowledge(file: LedgerFile, task: string, round: number, now: number): void {
  const message = file.tasks[task]?.messages[round];
  if (message) message.acknowledged = now;
}

/** Erases the bytes of messages that arrived long ago; that they were sent stays known. */
export function eraseOldMessages({ tasks }: LedgerFile, now: number): void {
  for (const { messages } of Object.values(tasks))
    for (const message of Object.values(messages))
      if (now - (message.acknowledged ?? now) >= MESSAGE_DAYS * DAY) message.bytes = "";
}

/** Returns the entry of a task; refuses a task that the owner has opted out of. */
export function taskEntry(file: LedgerFile, task: string): TaskEntry {
  if (file.optedOut.includes(EVERY_TASK) || file.optedOut.includes(task))
    throw new BudgetError("the owner of this device has opted out of this task");
  return (file.tasks[task] ??= { messages: {}, responses: {} });
}

/** Returns the bytes that an entry keeps under a name; the first ones given stay for good. */
export function keepBytes(
  entry: TaskEntry,
  name: "coin" | "secret",
  bytes: Uint8Array,
): Uint8Array {
  return unhex((entry[name] ??= hex(bytes)));
}

/** Erases all that a task, or every task, may still send or build on; charges stay. */
export function optOut(file: LedgerFile, task: string): void {
  file.optedOut.push(task);
  for (const digest of Object.keys(file.tasks))
    if (task === EVERY_TASK || digest === task) delete file.tasks[digest];
  file.outbox = file.outbox.filter((report) => task !== EVERY_TASK && report.task !== task);
}
