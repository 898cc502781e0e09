// A device and one collector: fetch the task, ask the owner, answer once, send later.

import { hex } from "../bytes.js";
import { SystemRng } from "../core/rng.js";
import { BudgetError, MismatchError, need, StateError } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import { isDocument } from "../wire/codec.js";
import { Client } from "./client.js";
import type { Ledger } from "./ledger.js";
import type { Receipt } from "./outbox.js";
import { claim, dueReports, post, secondsToNext, settle, waitingReports } from "./outbox.js";
import { fetchRound, fetchTask, send } from "./transport.js";

/** Gets the notice of a task and its statement in plain words; returns whether the owner agrees. */
export type Consent = (notice: Notice, text: string) => boolean | Promise<boolean>;

export interface DeviceOptions {
  ledger: Ledger;
  /** The enrolment token that the collector gave this device (default: none). */
  token?: string;
  /** Asked before every answer (default: nobody is asked). */
  consent?: Consent;
  /** The longest random wait before a message leaves, in seconds (default: 60). */
  delay?: number;
  /** The digests that the application expects, by task name; other documents are refused. */
  digests?: Readonly<Record<string, string>>;
}

/** How many reports arrived, were refused for good, and still wait. */
export interface Flushed {
  sent: number;
  refused: number;
  waiting: number;
}

const DEFAULT_DELAY = 60; // seconds
const FIRST_WAIT = 60; // seconds; doubled with every attempt
const MAX_WAIT = 86_400; // seconds
const MAX_TIMER = 2 ** 31 - 1; // milliseconds

export class Device {
  readonly url: string;
  readonly ledger: Ledger;
  readonly delay: number;
  readonly #token: string | undefined;
  readonly #consent: Consent | undefined;
  readonly #digests: ReadonlyMap<string, string>;
  readonly #rng = new SystemRng();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, options: DeviceOptions) {
    const { ledger, token, consent, delay = DEFAULT_DELAY, digests = {} } = options;
    need(delay >= 0 && isFinite(delay), "`delay` must be a number of seconds from 0 up");
    this.url = url.replace(/\/+$/, "");
    this.ledger = ledger;
    this.delay = delay;
    this.#token = token;
    this.#consent = consent;
    this.#digests = new Map(Object.entries(digests));
  }

  /** Answers a task: charges and randomises now, sends when due.  Returns the message. */
  async answer(name: string, value: unknown): Promise<Uint8Array> {
    const { client, round } = await this.#open(name);
    const { notice } = client;
    await client.check(round);
    if (this.#consent && !(await this.#consent(notice, await client.explain(round))))
      throw new BudgetError("the owner of this device has not agreed");
    const message = await this.ledger.update((file) => {
      const bytes = client.respond(file, value, round);
      const token = client.token === undefined ? {} : { token: client.token };
      const address = { url: this.url, name, task: notice.digest, round: round.number };
      const posting = { ...address, message: hex(bytes), ...token };
      post(file, posting, this.ledger.clock(), this.#uniform(this.delay));
      return bytes;
    });
    if (this.delay) await this.#schedule();
    else await this.flush();
    return message;
  }

  /** Returns in plain words what answering a task would reveal. */
  async explain(name: string): Promise<string> {
    const { client, round } = await this.#open(name);
    return client.explain(round);
  }

  /** Sends the reports that are due; with `force` all that wait. */
  async flush({ force = false } = {}): Promise<Flushed> {
    const { ledger, url } = this;
    const counts = { sent: 0, refused: 0, waiting: 0 };
    const due = await ledger.update((file) => dueReports(file, url, ledger.clock(), force));
    for (const candidate of due) {
      const report = await ledger.update((file) => claim(file, candidate, ledger.clock()));
      if (!report) continue;
      const receipt = this.#withWait(await send(report), report.attempts);
      counts[await ledger.update((file) => settle(file, report, receipt, ledger.clock()))]++;
      if (receipt !== "sent" && "wait" in receipt && receipt.unavailable) break;
    }
    await this.#schedule();
    const waiting = await ledger.update((file) => waitingReports(file, url).length);
    return { sent: counts.sent, refused: counts.refused, waiting };
  }

  /** Erases what any task may still send or build on, and never answers again; charges stay. */
  optOut(): Promise<void> {
    return this.ledger.optOut();
  }

  /** Stops sending by itself; reports that wait stay in the ledger. */
  close(): void {
    clearTimeout(this.#timer);
  }

  async #open(name: string): Promise<{ client: Client; round: Round }> {
    const { text, etag } = await fetchTask(this.url, name);
    const client = await Client.open(text, this.ledger, this.#token);
    const { notice } = client;
    const { digest, state, round } = await fetchRound(this.url, name);
    const stated = [digest, etag ?? notice.digest];
    if (notice.name !== name || stated.some((other) => other !== notice.digest))
      throw new MismatchError("the collector published another task than it states");
    if ((this.#digests.get(name) ?? notice.digest) !== notice.digest)
      throw new MismatchError("the digest of this task is not the one in `digests`");
    if (state !== "open" || !isDocument(round))
      throw new StateError("this task does not ask for answers now");
    return { client, round: await client.round(round) };
  }

  /** Returns the receipt with a random wait that grows with every attempt. */
  #withWait(receipt: Receipt, attempts: number): Receipt {
    if (receipt === "sent" || "refused" in receipt) return receipt;
    const half = (FIRST_WAIT * 2 ** (attempts - 1)) / 2;
    const wait = Math.min(Math.max(receipt.wait, half), MAX_WAIT) + this.#uniform(half);
    return { ...receipt, wait };
  }

  #uniform(seconds: number): number {
    return (seconds * this.#rng.word()) / 2 ** 32;
  }

  async #schedule(): Promise<void> {
    clearTimeout(this.#timer);
    const { ledger, url } = this;
    const seconds = await ledger.update((file) => secondsToNext(file, url, ledger.clock()));
    clearTimeout(this.#timer);
    if (seconds === undefined) return;
    const flush = (): void => void this.flush().catch(() => {}); // what fails stays in the ledger
    this.#timer = setTimeout(flush, Math.min(1000 * seconds + 10, MAX_TIMER));
    // In Node a waiting report does not keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }
}
