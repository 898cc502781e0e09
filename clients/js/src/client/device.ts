// A device and one collector: fetch the task, ask the owner, answer once, send later.

import { hex } from "../bytes.js";
import { Client } from "./client.js";
import { BudgetError, MismatchError, StateError } from "../errors.js";
import { isContent } from "../wire/codec.js";
import type { Ledger } from "./ledger.js";
import type { Outcome } from "./outbox.js";
import { claim, due, enqueue, next, settle } from "./outbox.js";
import { SystemRandom } from "../core/rng.js";
import type { Notice, Round } from "../tasks/notice.js";
import { fetchRound, fetchTask, post } from "./transport.js";

/** What the owner is asked to agree to. */
export interface Request {
  readonly notice: Notice;
  readonly round: Round;
  /** What answering reveals, in plain words. */
  readonly text: string;
}

export interface DeviceOptions {
  ledger: Ledger;
  /** What the collector enrolled this device with. */
  token?: string;
  /** Whether the owner agrees; asked before every answer. */
  consent?: (request: Request) => boolean | Promise<boolean>;
  /** A message leaves after a random time of at most so many seconds: when it arrives says little. */
  delay?: number;
  /** The digest of the one task that the application was built for. */
  digest?: string;
}

/** How many messages arrived, were refused for good, and did not get through this time. */
export interface Flushed {
  sent: number;
  refused: number;
  waiting: number;
}

const DELAY = 60;
const FIRST_WAIT = 60; // seconds, doubled with every attempt
const LONGEST_WAIT = 86_400;
const LONGEST_TIMER = 2 ** 31 - 1; // milliseconds

export class Device {
  readonly url: string;
  readonly ledger: Ledger;
  readonly #options: DeviceOptions;
  readonly #random = new SystemRandom();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, options: DeviceOptions) {
    this.url = url.replace(/\/+$/, "");
    this.ledger = options.ledger;
    this.#options = options;
  }

  /** Answers a task: charged and randomised now, sent when due. */
  async answer(name: string, value: unknown): Promise<void> {
    const { client, round } = await this.#asked(name);
    await client.check(round);
    const { consent, delay = DELAY } = this.#options;
    const request = { notice: client.notice, round, text: await client.explain(round) };
    if (consent && !(await consent(request))) throw new BudgetError("the owner of this device has not agreed");
    await this.ledger.update((book) => {
      const report = hex(client.respond(book, value, round));
      const token = client.token === undefined ? {} : { token: client.token };
      const parcel = { url: this.url, name, task: client.notice.digest, round: round.number, report, ...token };
      enqueue(book, parcel, this.ledger.now(), this.#uniform(delay));
    });
    if (delay) await this.#schedule();
    else await this.flush();
  }

  /** Returns in plain words what answering a task would reveal. */
  async explain(name: string): Promise<string> {
    const { client, round } = await this.#asked(name);
    return client.explain(round);
  }

  /** Sends what is due; with `force` also what is not. */
  async flush({ force = false } = {}): Promise<Flushed> {
    const count = { sent: 0, refused: 0, waiting: 0 };
    const { ledger } = this;
    for (const one of await ledger.update((book) => due(book, this.url, ledger.now(), force))) {
      const parcel = await ledger.update((book) => claim(book, one, ledger.now()));
      if (!parcel) continue;
      const outcome = this.#patient(await post(parcel), parcel.attempts);
      count[await ledger.update((book) => settle(book, parcel, outcome, ledger.now()))]++;
      if (outcome !== "sent" && "away" in outcome && outcome.away) break;
    }
    await this.#schedule();
    return count;
  }

  /** Stops sending by itself; what waits stays in the ledger. */
  close(): void {
    clearTimeout(this.#timer);
  }

  async #asked(name: string): Promise<{ client: Client; round: Round }> {
    const { text, tag } = await fetchTask(this.url, name);
    const client = await Client.open(text, this.ledger, this.#options.token);
    const { notice } = client;
    const { digest, state, round } = await fetchRound(this.url, name);
    const claimed = [digest, tag ?? notice.digest, this.#options.digest ?? notice.digest];
    if (notice.name !== name || claimed.some((one) => one !== notice.digest)) {
      throw new MismatchError("the collector published another task than it claims, or than this application expects");
    }
    if (state !== "open" || !isContent(round)) throw new StateError("this task does not ask for answers now");
    return { client, round: await client.round(round) };
  }

  /** Returns the outcome with a wait of a random length that grows with every attempt. */
  #patient(outcome: Outcome, attempts: number): Outcome {
    if (outcome === "sent" || "refused" in outcome) return outcome;
    const half = (FIRST_WAIT * 2 ** (attempts - 1)) / 2;
    return { ...outcome, wait: Math.min(Math.max(outcome.wait, half), LONGEST_WAIT) + this.#uniform(half) };
  }

  #uniform(seconds: number): number {
    return (seconds * this.#random.word()) / 2 ** 32;
  }

  async #schedule(): Promise<void> {
    clearTimeout(this.#timer);
    const seconds = await this.ledger.update((book) => next(book, this.url, this.ledger.now()));
    clearTimeout(this.#timer);
    if (seconds === undefined) return;
    const flush = (): void => void this.flush().catch(() => {}); // what fails stays in the ledger
    this.#timer = setTimeout(flush, Math.min(1000 * seconds + 10, LONGEST_TIMER));
    (this.#timer as { unref?: () => void }).unref?.(); // in Node a waiting message does not keep the process alive
  }
}
