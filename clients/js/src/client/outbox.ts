// Reports that wait for the network: stored in the ledger, sent when due, and given up after too
// many attempts.

import { BudgetError } from "../errors.js";
import type { LedgerFile } from "./ledger_file.js";

const MAX_WAITING = 100;
const MAX_ATTEMPTS = 8;
const MAX_SENDING = 60; // seconds after which a sender that has not reported back has failed

/** Where a message goes. */
export interface Posting {
  readonly url: string;
  readonly name: string;
  readonly task: string;
  readonly round: number;
  readonly message: string;
  readonly token?: string;
}

/** A message in the outbox.  It waits from `posted` to `due`, or less if the clock was set back. */
export interface Report extends Posting {
  posted: number;
  due: number;
  /** Whether somebody is sending it now. */
  sending: boolean;
  attempts: number;
}

/** A report that the collector refused, or that was given up. */
export interface RefusedReport {
  readonly name: string;
  readonly task: string;
  readonly round: number;
  readonly code: string;
}

/**
 * The result of one attempt: the report arrived, it was refused for good, or it may be sent again
 * after `wait` seconds.  `unavailable` says that the collector cannot take other reports either.
 */
export type Receipt = "sent" | { refused: string } | { wait: number; unavailable: boolean };

export function post(file: LedgerFile, posting: Posting, now: number, delay: number): void {
  if (file.outbox.length >= MAX_WAITING)
    throw new BudgetError(
      `${MAX_WAITING} reports wait for the network already, so nothing was charged`,
    );
  file.outbox.push({ ...posting, posted: now, due: now + delay, sending: false, attempts: 0 });
}

/** Returns the reports that are due; with `force` all that nobody is sending. */
export function dueReports(
  file: LedgerFile,
  url: string,
  now: number,
  force: boolean,
): Report[] {
  const isDue = (report: Report): boolean =>
    !waits(report, now) || (force && !report.sending);
  return waitingReports(file, url).filter(isDue);
}

/** Returns all reports that wait for a collector. */
export function waitingReports(file: LedgerFile, url: string): Report[] {
  return file.outbox.filter((report) => report.url === url);
}

/** Marks a report as being sent and returns it; returns nothing if somebody else is sending it. */
export function claim(file: LedgerFile, { message }: Report, now: number): Report | undefined {
  const report = file.outbox.find((waiting) => waiting.message === message);
  if (!report || (report.sending && waits(report, now))) return undefined;
  const attempts = report.attempts + 1;
  return Object.assign(report, { posted: now, due: now + MAX_SENDING, sending: true, attempts });
}

/** Enters the result of an attempt and returns the new state of the report. */
export function settle(
  file: LedgerFile,
  { message }: Report,
  receipt: Receipt,
  now: number,
): "sent" | "refused" | "waiting" {
  const report = file.outbox.find((waiting) => waiting.message === message);
  if (!report) return "sent"; // another tab has sent it, or the owner has opted out meanwhile
  if (receipt !== "sent" && "wait" in receipt && report.attempts < MAX_ATTEMPTS) {
    Object.assign(report, { posted: now, due: now + receipt.wait, sending: false });
    return "waiting";
  }
  file.outbox.splice(file.outbox.indexOf(report), 1);
  if (receipt === "sent") return "sent";
  const { name, task, round } = report;
  const code = "refused" in receipt ? receipt.refused : "gave-up";
  file.refused = [...file.refused, { name, task, round, code }].slice(-MAX_WAITING);
  return "refused";
}

/** Returns in how many seconds the next report is due; nothing if none waits. */
export function secondsToNext(file: LedgerFile, url: string, now: number): number | undefined {
  const secondsLeft = (report: Report): number => (waits(report, now) ? report.due - now : 0);
  const seconds = waitingReports(file, url).map(secondsLeft);
  return seconds.length ? Math.min(...seconds) : undefined;
}

function waits({ posted, due }: Report, now: number): boolean {
  return posted <= now && now < due;
}
