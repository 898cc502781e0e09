// A device and one collector: fetch the task, ask the owner, answer once, send later.

import { base64url, hex } from "../bytes.js";
import { checkUrl } from "../core/addresses.js";
import { SystemRng } from "../core/rng.js";
import { BudgetError, MismatchError, need, StateError } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import { canonical, isDocument } from "../wire/codec.js";
import { checkLanguage } from "../wire/languages.js";
import type { Accepts } from "./accepts.js";
import { remember } from "./accepts.js";
import type { ClientOptions, Notify } from "./client.js";
import { Client, noticeOf } from "./client.js";
import type { Ledger } from "./ledger.js";
import type { Receipt, Report } from "./outbox.js";
import {
  claim,
  dueReports,
  post,
  refuseFull,
  secondsToNext,
  settle,
  waitingReports,
} from "./outbox.js";
import type { Route } from "./route.js";
import { DirectRoute, receiptBy, ShuffledRoute } from "./route.js";
import { checkAccepts } from "./stated_accepts.js";
import type { Address } from "./transport.js";
import { DEFAULT_TIMEOUT, fetchRound, fetchTask } from "./transport.js";

/** Gets the notice of a task and its statement in plain words; returns whether the owner agrees. */
export type Consent = (notice: Notice, text: string) => boolean | Promise<boolean>;

export interface DeviceOptions {
  ledger: Ledger;
  /** The enrolment token that the collector gave this device (default: none). */
  token?: string;
  /** Asked before every answer (default: nobody is asked). */
  consent?: Consent;
  /**
   * The longest random wait before a message leaves, in seconds (default: 60, or for a shuffled
   * task as long as its round stays open, if that is known).
   */
  delay?: number;
  /** What the app agrees that tasks may ask, by task name (default: what they asked first). */
  accepts?: Readonly<Record<string, Accepts>>;
  /** Called after an answer whose value lay outside the domain (default: nobody is told). */
  notify?: Notify;
  /** Further addresses at which the task and its round must be the same (default: none). */
  witnesses?: readonly string[];
  /**
   * How messages travel (default: directly to the collector, and if the task is shuffled, to its
   * first shuffler).
   */
  route?: Route;
  /** An address that forwards to the first shuffler, which then does not see this device. */
  relay?: string;
  /** The language of the statement, one of `LANGUAGES` (default: English). */
  language?: string;
  /** How many seconds one exchange with a server may take (default: 30). */
  timeout?: number;
}

/** What a device does that is told nothing but its ledger; the Python client has the same. */
export const DEFAULTS = {
  token: undefined,
  consent: undefined,
  delay: undefined,
  accepts: {},
  notify: undefined,
  witnesses: [],
  route: undefined,
  relay: undefined,
  language: "en",
  timeout: DEFAULT_TIMEOUT,
} as const satisfies Record<Exclude<keyof DeviceOptions, "ledger">, unknown>;

/** How many reports arrived, were refused for good, and still wait. */
export interface Flushed {
  sent: number;
  refused: number;
  waiting: number;
}

const DEFAULT_DELAY = 60; // seconds
const FIRST_WAIT = 60; // seconds; doubled with every attempt
const MAX_WAIT = 3600; // seconds
const MAX_RETRY_AFTER = 86_400; // seconds
const MAX_TIMER = 2 ** 31 - 1; // milliseconds

export class Device {
  readonly url: string;
  readonly ledger: Ledger;
  /** The longest random wait that the application has stated. */
  readonly delay: number | undefined;
  /** What takes the place of the first shuffler. */
  readonly relay: string | undefined;
  /** The language of the statement. */
  readonly language: string;
  readonly #token: string | undefined;
  readonly #consent: Consent | undefined;
  readonly #accepts: ReadonlyMap<string, Accepts>;
  readonly #notify: Notify | undefined;
  readonly #route: Route | undefined;
  readonly #collector: Address;
  readonly #witnesses: readonly Address[];
  readonly #rng = new SystemRng();
  /** The timer of the next attempt; null once the device is closed. */
  #timer: ReturnType<typeof setTimeout> | null | undefined;

  constructor(url: string, options: DeviceOptions) {
    const { delay, route, relay } = options;
    const { accepts, witnesses, language, timeout } = withDefaults(options);
    need(
      delay === undefined || (delay >= 0 && isFinite(delay)),
      "`delay` must be a number of at least 0",
    );
    need(timeout > 0 && isFinite(timeout), "`timeout` must be a number above 0");
    this.url = checkUrl("url", url);
    this.ledger = options.ledger;
    this.delay = delay;
    this.relay = relay === undefined ? undefined : checkUrl("relay", relay);
    this.language = checkLanguage(language);
    this.#token = options.token;
    this.#consent = options.consent;
    this.#notify = options.notify;
    this.#accepts = new Map(Object.entries(accepts));
    this.#accepts.forEach(checkAccepts);
    this.#route = route;
    this.#collector = { url: this.url, timeout };
    this.#witnesses = witnesses.map((other) => ({ url: checkUrl("witnesses", other), timeout }));
  }

  /** Answers a task: charges and randomises now, sends when due.  Returns the message. */
  async answer(name: string, value: unknown): Promise<Uint8Array> {
    const { client, round } = await this.#open(name);
    const { notice } = client;
    await client.checkTask(round);
    const shuffled = notice.shuffle && (await this.#openSealing(notice, round));
    const hasAgreed = notice.collection?.issuer && (await this.#obtainToken(client, round));
    await client.check(round);
    if (!hasAgreed) await this.#askOwner(client, round);
    await this.ledger.update((file) => refuseFull(file, this.#outbox)); // before the value is drawn
    const sealed = await shuffled?.sealing.answer(client, value);
    const wait = this.#uniform(shuffled?.longestWait ?? this.delay ?? DEFAULT_DELAY);
    const { message, outside } = await this.ledger.update((file) => {
      refuseFull(file, this.#outbox);
      const answer = client.respond(file, value, round, sealed);
      const token = client.token === undefined ? {} : { token: client.token };
      const address = { ...this.#addressOf(notice), task: notice.digest, round: round.number };
      const posting = { ...address, message: hex(answer.message), ...token };
      post(file, posting, this.ledger.clock(), wait);
      return answer;
    });
    if (wait) await this.#schedule();
    else await this.flush();
    if (outside !== undefined) this.#notify?.(outside); // last: it may throw
    return message;
  }

  /** Returns the notice of a task, to be shown to the owner. */
  async notice(name: string): Promise<Notice> {
    const { text, etag } = await fetchTask(this.#collector, name);
    const notice = await noticeOf(text);
    if ((etag ?? notice.digest) !== notice.digest)
      throw new MismatchError("the collector states another digest than its task document has");
    if (notice.name !== name)
      throw new MismatchError("the collector answers with a task of another name");
    return notice;
  }

  /** Returns in plain words what answering a task would reveal. */
  async explain(notice: Notice): Promise<string> {
    return (await this.#client(notice)).explain(notice.opening, this.language);
  }

  /** Lets a task ask from now on what its notice says, where the app has stated nothing. */
  agree(notice: Notice): Promise<void> {
    return this.ledger.update((file) => remember(file, this.url, notice));
  }

  /** Returns the reports that wait for the collector, and why their last attempts failed. */
  waiting(): Promise<Report[]> {
    return this.ledger.update((file) => waitingReports(file, this.#outbox));
  }

  /** Sends the reports that are due; with `force` all that wait. */
  async flush({ force = false } = {}): Promise<Flushed> {
    const { ledger } = this;
    const outbox = this.#outbox;
    const counts = { sent: 0, refused: 0, waiting: 0 };
    const due = await ledger.update((file) => dueReports(file, outbox, ledger.clock(), force));
    const unavailable = new Set<string>();
    for (const candidate of due) {
      if (unavailable.has(candidate.url)) continue;
      const report = await ledger.update((file) => claim(file, candidate, ledger.clock()));
      if (!report) continue;
      const receipt = await receiptBy(this.#routeBack(report), report);
      const result = this.#withWait(receipt, report.attempts);
      counts[await ledger.update((file) => settle(file, report, result, ledger.clock()))]++;
      if (result !== "sent" && "wait" in result && result.unavailable)
        unavailable.add(report.url);
    }
    await this.#schedule();
    const waiting = await ledger.update((file) => waitingReports(file, outbox).length);
    return { sent: counts.sent, refused: counts.refused, waiting };
  }

  /** Erases what any task may still send or build on, and never answers again; charges stay. */
  optOut(): Promise<void> {
    return this.ledger.optOut();
  }

  /** Stops sending by itself for good; reports that wait stay in the ledger. */
  close(): void {
    clearTimeout(this.#timer ?? 0);
    this.#timer = null; // an attempt that is under way would set the timer again
  }

  async #open(name: string): Promise<{ client: Client; round: Round }> {
    const notice = await this.notice(name);
    const { state, round } = await fetchRound(this.#collector, notice);
    if (state !== "open" || !isDocument(round))
      throw new StateError("this task does not ask for answers now");
    for (const witness of this.#witnesses) {
      const shown = await fetchRound(witness, notice);
      if (shown.state !== state || canonical(shown.round) !== canonical(round))
        throw new MismatchError("a witness shows another round than the collector");
    }
    const client = await this.#client(notice);
    return { client, round: await client.round(round) };
  }

  /**
   * Fetches the keys of a shuffled round.  What is fetched does not depend on this device's coin:
   * keys and token come before the device finds out whether the round asks it.
   */
  async #openSealing(notice: Notice, round: Round) {
    const { fetchKeys, Sealing } = await import("./sealing.js");
    const addresses = [this.#collector, ...this.#witnesses] as const;
    const keys = await fetchKeys(addresses, notice, round);
    const sealing = await Sealing.open(notice, round, keys);
    return { sealing, longestWait: this.#longestWait(notice, keys.opened) };
  }

  /** Obtains the blind token if it is missing; returns whether the owner has agreed to that. */
  async #obtainToken(client: Client, round: Round): Promise<boolean> {
    const { obtainToken } = await import("./blind_token.js");
    const agree = () => this.#askOwner(client, round);
    return obtainToken(client, this.#collector, this.#token, agree);
  }

  /** Messages of a shuffled round may arrive at any time until it closes. */
  #longestWait({ collection }: Notice, opened: number | undefined): number {
    const { seconds = 0 } = collection ?? {};
    if (this.delay !== undefined) return this.delay;
    if (opened === undefined || !seconds) return DEFAULT_DELAY;
    return Math.min(Math.max(opened + seconds - this.ledger.clock(), 0), seconds);
  }

  async #askOwner(client: Client, round: Round): Promise<void> {
    if (!this.#consent) return;
    const text = await client.explain(round, this.language);
    if (!(await this.#consent(client.notice, text)))
      throw new BudgetError("the owner of this device has not agreed");
  }

  /** The address under which the messages of this device are filed. */
  get #outbox(): string {
    return this.#route?.url ?? this.url;
  }

  /** Returns where the message of a task goes. */
  #addressOf({ name, shuffle, fingerprint }: Notice) {
    if (!shuffle) return { url: this.#outbox, name };
    const firstHop = this.relay ?? shuffle.hops[0]!.url.replace(/\/+$/, "");
    const url = this.#route?.url ?? firstHop;
    return { url, name, origin: this.#outbox, fingerprint: base64url(fingerprint) };
  }

  /** Returns the route under whose address a report was filed. */
  #routeBack({ url, fingerprint }: Report): Route {
    if (this.#route) return this.#route;
    const address = { url, timeout: this.#collector.timeout };
    return fingerprint === undefined ? new DirectRoute(address) : new ShuffledRoute(address);
  }

  #client(notice: Notice): Promise<Client> {
    const options: ClientOptions = {
      token: this.#token,
      accepts: this.#accepts.get(notice.name),
      origin: this.url,
    };
    return Client.open(notice, this.ledger, options);
  }

  /** Returns the receipt with a random wait that grows with every attempt. */
  #withWait(receipt: Receipt, attempts: number): Receipt {
    if (receipt === "sent" || "refused" in receipt) return receipt;
    const half = Math.min(FIRST_WAIT * 2 ** (attempts - 1), MAX_WAIT) / 2;
    const wanted = Math.min(receipt.wait, MAX_RETRY_AFTER);
    return { ...receipt, wait: Math.max(wanted, half) + this.#uniform(half) };
  }

  #uniform(seconds: number): number {
    return (seconds * this.#rng.word()) / 2 ** 32;
  }

  async #schedule(): Promise<void> {
    const { ledger } = this;
    const seconds = await ledger.update((file) =>
      secondsToNext(file, this.#outbox, ledger.clock()),
    );
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    if (seconds === undefined) return;
    const flush = (): void => void this.flush().catch(() => {}); // what fails stays in the ledger
    this.#timer = setTimeout(flush, Math.min(1000 * seconds + 10, MAX_TIMER));
    // In Node a waiting report does not keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }
}

/** Returns the options with a default; one that is given as undefined is not given. */
function withDefaults({
  accepts = DEFAULTS.accepts,
  witnesses = DEFAULTS.witnesses,
  language = DEFAULTS.language,
  timeout = DEFAULTS.timeout,
}: DeviceOptions) {
  return { accepts, witnesses, language, timeout };
}
