// A device and one collector: fetch the task, ask the owner, answer once, send later.

import { hex } from "../bytes.js";
import { SystemRng } from "../core/rng.js";
import { BudgetError, MismatchError, StateError } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import { isDocument } from "../wire/codec.js";
import { Client } from "./client.js";
import type { Ledger } from "./ledger.js";
import type { Receipt } from "./outbox.js";
import { claim, dueReports, post, secondsToNext, settle } from "./outbox.js";
import { fetchRound, fetchTask, send } from "./transport.js";

/** What the owner is asked to agree to. */
export interface Request {
  readonly notice: Notice;
  readonly round: Round;
  /** What answering reveals, in plain words. */
  readonly text: string;
}

export interface DeviceOptions {
  ledger: Ledger;
  /** The enrolment token that the collector gave this device. */
  token?: string;
  /** Returns whether the owner agrees; called before every answer. */
  consent?: (request: Request) => boolean | Promise<boolean>;
  /** The longest random wait before a message leaves, in seconds. */
  delay?: number;
  /** The digest of the one task that the application was built for. */
  digest?: string;
}

/** How many reports arrived, were refused for good, and did not get through this time. */
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
  readonly #options: DeviceOptions;
  readonly #rng = new SystemRng();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, options: DeviceOptions) {
    this.url = url.replace(/\/+$/, "");
    this.ledger = options.ledger;
    this.#options = options;
  }

  /** Answers a task: charges and randomises now, sends when the report is due. */
  async answer(name: string, value: unknown): Promise<void> {
    const { client, round } = await this.#open(name);
    await client.check(round);
    const { consent, delay = DEFAULT_DELAY } = this.#options;
    const request = { notice: client.notice, round, text: await client.explain(round) };
    if (consent && !(await consent(request)))
      throw new BudgetError("the owner of this device has not agreed");
    await this.ledger.update((file) => {
      const message = hex(client.respond(file, value, round));
      const token = client.token === undefined ? {} : { token: client.token };
      const address = { url: this.url, name, task: client.notice.digest, round: round.number };
      post(file, { ...address, message, ...token }, this.ledger.clock(), this.#uniform(delay));
    });
    if (delay) await this.#schedule();
    else await this.flush();
  }

  /** Returns in plain words what answering a task would reveal. */
  async explain(name: string): Promise<string> {
    const { client, round } = await this.#open(name);
    return client.explain(round);
  }

  /** Sends the reports that are due; with `force` all that wait. */
  async flush({ force = false } = {}): Promise<Flushed> {
    const counts = { sent: 0, refused: 0, waiting: 0 };
    const { ledger, url } = this;
    const due = await ledger.update((file) => dueReports(file, url, ledger.clock(), force));
    for (const candidate of due) {
      const report = await ledger.update((file) => claim(file, candidate, ledger.clock()));
      if (!report) continue;
      const receipt = this.#withWait(await send(report), report.attempts);
      counts[await ledger.update((file) => settle(file, report, receipt, ledger.clock()))]++;
      if (receipt !== "sent" && "wait" in receipt && receipt.unavailable) break;
    }
    await this.#schedule();
    return counts;
  }

  /** Stops sending by itself; reports that wait stay in the ledger. */
  close(): void {
    clearTimeout(this.#timer);
  }

  async #open(name: string): Promise<{ client: Client; round: Round }> {
    const { text, etag } = await fetchTask(this.url, name);
    const client = await Client.open(text, this.ledger, this.#options.token);
    const { notice } = client;
    const { digest, state, round } = await fetchRound(this.url, name);
    const stated = [digest, etag ?? notice.digest, this.#options.digest ?? notice.digest];
    if (notice.name !== name || stated.some((other) => other !== notice.digest))
      throw new MismatchError(
        "the collector published another task than it states, or than this application expects",
      );
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
