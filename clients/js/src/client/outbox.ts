// Reports that wait for the network.  A report is stored in the ledger and sent when it is due, as
// often as it takes: it stays until the collector has acknowledged it or refused it for good.

import { BudgetError } from "../errors.js";
import type { LedgerFile } from "./ledger_file.js";
import { acknowledge } from "./ledger_file.js";

const MAX_WAITING = 100; // reports for one address
const MAX_SENDING = 60; // seconds after which a sender that has not reported back has failed

/** Where a message goes. */
export interface Posting {
  readonly url: string;
  readonly name: string;
  readonly task: string;
  readonly round: number;
  readonly message: string;
  readonly token?: string;
  /** Of a sealed message: the address of the collector whose task it answers. */
  readonly origin?: string;
  /** Of a sealed message: the fingerprint of its task, by which shufflers know it. */
  readonly fingerprint?: string;
}

/** A message in the outbox.  It waits from `posted` to `due`, or less if the clock was set back. */
export interface Report extends Posting {
  posted: number;
  due: number;
  /** Whether somebody is sending it now. */
  sending: boolean;
  attempts: number;
  /** Why the last attempt failed; empty before the first. */
  reason: string;
}

/** A report that the collector refused. */
export interface RefusedReport {
  readonly name: string;
  readonly task: string;
  readonly round: number;
  readonly code: string;
}

/** A failed attempt: `reason` says why, and `unavailable` that other reports would fail as well. */
export interface Failure {
  readonly reason: string;
  readonly unavailable: boolean;
  /** The seconds that the collector wants the device to wait. */
  readonly wait: number;
}

/** The result of one attempt: the report arrived, was refused for good, or may be sent again. */
export type Receipt = "sent" | { refused: string } | Failure;

/** Throws if no more reports may wait for an address. */
export function refuseFull(file: LedgerFile, url: string): void {
  if (waitingReports(file, url).length >= MAX_WAITING)
    throw new BudgetError(
      `${MAX_WAITING} reports wait for the network already, so nothing was charged`,
    );
}

export function post(file: LedgerFile, posting: Posting, now: number, delay: number): void {
  const fresh = { posted: now, due: now + delay, sending: false, attempts: 0, reason: "" };
  file.outbox.push({ ...posting, ...fresh });
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

/** Returns all reports that wait for a collector, or for shufflers of its tasks. */
export function waitingReports(file: LedgerFile, url: string): Report[] {
  return file.outbox.filter((report) => (report.origin ?? report.url) === url);
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
  if (receipt !== "sent" && "wait" in receipt) {
    const { wait, reason, unavailable } = receipt;
    const times = { posted: now, due: now + wait };
    Object.assign(report, { ...times, sending: false, reason });
    if (unavailable) {
      // Nobody answers there now: what is due as well is not tried one by one.
      const others = file.outbox.filter(({ url }) => url === report.url);
      for (const other of others) if (!waits(other, now)) Object.assign(other, times);
    }
    return "waiting";
  }
  file.outbox.splice(file.outbox.indexOf(report), 1);
  const { name, task, round } = report;
  if (receipt === "sent") {
    acknowledge(file, task, round, now);
    return "sent";
  }
  const refused = { name, task, round, code: receipt.refused };
  file.refused = [...file.refused, refused].slice(-MAX_WAITING);
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
