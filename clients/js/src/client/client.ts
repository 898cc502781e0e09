// The device's side of a task: it checks what is asked, charges the ledger, randomises the value,
// and only then returns bytes that may leave.  Randomness always comes from the system.
//
// What is refused, charged and sent depends on the document, the ledger, the app and the owner, and
// never on the value: the value is looked at when nothing can be refused any more.

import { hex } from "../bytes.js";
import { enrolledBytes, roundCoin } from "../core/coin.js";
import { load } from "../core/registry.js";
import type { Rng } from "../core/rng.js";
import { SystemRng } from "../core/rng.js";
import type { Index } from "../domains/base.js";
import { randomIndex } from "../domains/base.js";
import { AccessError, DomainError, MismatchError, need } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import { checkPublic, checkRound, readNotice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import { asksCoin, readRound } from "../tasks/round.js";
import type { Document } from "../wire/codec.js";
import { parseCanonical } from "../wire/codec.js";
import type { Accepts } from "./accepts.js";
import { refuseChanged, refuseUnaccepted, remember } from "./accepts.js";
import type { Ledger } from "./ledger.js";
import type { LedgerFile, TaskEntry } from "./ledger_file.js";
import { answerOnce, keepBytes, refuseAgain, taskEntry } from "./ledger_file.js";
import type { AddressedQuestion, MakePayload } from "./message.js";
import { questionsFor, writeMessage } from "./message.js";
import type { Sealing } from "./sealing.js";

const UNREADABLE = "a value must be of the kind that the task asks for";

/** Gets the rule that a value breaks which lies outside the domain; a random value was sent. */
export type Notify = (reason: string) => void;

export interface ClientOptions {
  /** The enrolment token that the collector gave this device (default: none). */
  token?: string | undefined;
  /** What the app agrees that the task may ask (default: what it asked at the first use). */
  accepts?: Accepts | undefined;
  /** Called after an answer whose value lay outside the domain (default: nobody is told). */
  notify?: Notify | undefined;
  /** The address of the collector, which tells tasks of one name apart (default: none). */
  origin?: string;
}

/** What only some tasks need: a module that is loaded for them. */
interface Extra {
  makePayloads(notice: Notice, entry: TaskEntry, rng: Rng): MakePayload | undefined;
  checkNotice?(notice: Notice): void;
  checkEntry?(entry: TaskEntry): void;
  joinToken?(notice: Notice, round: Round, envelopes: Uint8Array, entry: TaskEntry): Uint8Array;
}

/** A message, and the rule that the value broke if it lay outside the domain. */
export interface Answer {
  readonly message: Uint8Array;
  readonly outside: string | undefined;
}

/** Answers one task for one person: once, or once per round if the task is longitudinal. */
export class Client {
  readonly token: string | undefined;
  readonly #rng = new SystemRng();
  readonly #accepts: Accepts;
  readonly #notify: Notify | undefined;
  readonly #origin: string;

  private constructor(
    readonly notice: Notice,
    readonly ledger: Ledger,
    { token, accepts = {}, notify, origin = "" }: ClientOptions,
    readonly extra?: Extra,
  ) {
    this.token = notice.collection?.enrolment ? token : undefined; // other tasks never see it
    this.#accepts = accepts;
    this.#notify = notify;
    this.#origin = origin;
  }

  /** Reads a task from the text of its document, or takes a notice that was read before. */
  static async open(
    task: string | Notice,
    ledger: Ledger,
    options: ClientOptions = {},
  ): Promise<Client> {
    const { accepts } = options;
    if (accepts) (await import("./stated_accepts.js")).checkAccepts(accepts);
    const notice = typeof task === "string" ? await noticeOf(task) : task;
    return new Client(notice, ledger, options, await extraOf(notice));
  }

  /** Returns the round in a document; refuses a round that the task has not announced. */
  async round(document: Document): Promise<Round> {
    await load(document);
    return checkRound(this.notice, readRound(document));
  }

  /** Returns this device's public coin for the task, in units of 2^-64. */
  coin(): Promise<bigint> {
    return this.ledger.update((file) => roundCoin(this.#deviceBytes(file), this.notice.digest));
  }

  /** Throws unless the task is accepted, whatever this device's coin is. */
  async checkTask(round: Round): Promise<void> {
    this.#checkTask(round);
    const { notice } = this;
    const asked = { origin: this.#origin, notice, accepts: this.#accepts };
    await this.ledger.update((file) => {
      taskEntry(file, notice.digest);
      refuseChanged(file, asked);
    });
  }

  /** Throws unless the task is accepted, asks this device, and has not been answered. */
  async check(round: Round = this.notice.opening): Promise<void> {
    this.#checkTask(round);
    await this.coin(); // stored before anything can be refused
    await this.ledger.update((file) => void this.#questions(file, round));
  }

  /**
   * Returns the message that may leave the device; spends the task's epsilon, once.  A shuffled
   * task needs a sealing for the round, and returns the sealed message.
   */
  async answer(
    value: unknown,
    round: Round = this.notice.opening,
    sealing?: Sealing,
  ): Promise<Uint8Array> {
    await this.check(round);
    need(
      sealing || !this.notice.shuffle,
      "`sealing` is missing: a shuffled task is answered with the keys of its round",
    );
    const sealed = await sealing?.answer(this, value);
    const answer = await this.ledger.update((file) => this.respond(file, value, round, sealed));
    if (answer.outside !== undefined) this.#notify?.(answer.outside);
    return answer.message;
  }

  /**
   * Returns the message; the caller's transaction stores charge and message together.  What was
   * drawn and sealed before is stored as it is.
   */
  respond(file: LedgerFile, value: unknown, round: Round, sealed?: Answer): Answer {
    const { notice } = this;
    this.#checkTask(round);
    const questions = this.#questions(file, round);
    const entry = taskEntry(file, notice.digest);
    const makePayload = this.extra?.makePayloads(notice, entry, this.#rng);
    const epsilon = this.#isRehearsal ? "0.0" : notice.epsilon;
    const conditional = this.#isRehearsal ? undefined : notice.shuffle?.conditional(epsilon);
    const spend = { ...this.#spendOf(round), name: notice.name, epsilon, conditional };
    let outside: string | undefined;
    const make = (): Uint8Array => {
      remember(file, this.#origin, notice);
      outside = sealed?.outside;
      if (sealed) return sealed.message;
      const held = this.#indexOf(value); // from here on nothing is refused
      outside = held.outside;
      const parts = { notice, round, questions, index: held.index, makePayload };
      const envelopes = writeMessage(parts, this.#rng);
      return this.extra?.joinToken?.(notice, round, envelopes, entry) ?? envelopes;
    };
    const message = answerOnce(file, spend, this.ledger.clock(), make);
    return { message, outside };
  }

  /** Returns the bytes of the answer to a round, or of the last answer; they never change. */
  async resend(round?: Round): Promise<Uint8Array> {
    const { keptMessage } = await import("./resend.js");
    return keptMessage(this, round);
  }

  /** Lets the task ask from now on what it asks now, where the app has stated nothing. */
  agree(): Promise<void> {
    return this.ledger.update((file) => remember(file, this.#origin, this.notice));
  }

  /** Returns in plain words what answering reveals. */
  async explain(round: Round = this.notice.opening, language = "en"): Promise<string> {
    const { explainFor } = await import("./spending.js");
    return explainFor(this.ledger, this.notice, round, language);
  }

  get #isRehearsal(): boolean {
    return this.notice.collection?.sandbox ?? false;
  }

  /** Refuses a task or round for what it asks. */
  #checkTask(round: Round): void {
    refuseUnaccepted(this.notice, this.#accepts);
    checkPublic(this.notice);
    checkRound(this.notice, round);
  }

  /** Returns what this device is asked; refuses all that the ledger knows a reason against. */
  #questions(file: LedgerFile, round: Round): AddressedQuestion[] {
    const { notice } = this;
    refuseChanged(file, { origin: this.#origin, notice, accepts: this.#accepts });
    const deviceBytes = this.#deviceBytes(file);
    refuseAgain(file, this.#spendOf(round));
    if (!asksCoin(round, roundCoin(deviceBytes, notice.digest)))
      throw new MismatchError(
        "this round is put to other users: this device's coin lies outside its share",
      );
    return questionsFor(notice, round, deviceBytes);
  }

  /**
   * Returns the index of the value.  That of a random value takes its place in a rehearsal, which
   * does not look at the value, and if the value lies outside the domain.  It is always drawn, so
   * that the number of draws does not depend on the value.
   */
  #indexOf(value: unknown): { index: Index; outside?: string } {
    const { domain } = this.notice;
    const fallback = randomIndex(domain, this.#rng);
    if (this.#isRehearsal) return { index: fallback };
    try {
      return { index: domain.index(value) };
    } catch (error) {
      // A value may throw errors of its own, whose text may tell what it is.
      const isOurs = error instanceof DomainError;
      const outside = isOurs ? error.message : UNREADABLE;
      return { index: domain.withPublicPart?.(fallback, value) ?? fallback, outside };
    }
  }

  /** Returns the 16 bytes of this device for the task: drawn once, or given by the enrolment. */
  #deviceBytes(file: LedgerFile): Uint8Array {
    const { digest, collection } = this.notice;
    const enrolled = this.token === undefined ? undefined : enrolledBytes(this.token, digest);
    if (collection?.enrolment && !enrolled)
      throw new AccessError("this task asks enrolled devices only, and this device has no token");
    const entry = taskEntry(file, digest);
    this.extra?.checkEntry?.(entry);
    const bytes = keepBytes(entry, "coin", enrolled ?? this.#rng.bytes(16));
    if (enrolled && hex(enrolled) !== hex(bytes))
      throw new MismatchError(
        "this device had its coin for the task before it got this enrolment token",
      );
    return bytes;
  }

  #spendOf({ number }: Round) {
    const { digest, distinct } = this.notice;
    return { task: digest, round: number, longitudinal: distinct !== undefined };
  }
}

/** Returns the notice in the text of a task's document. */
export async function noticeOf(text: string): Promise<Notice> {
  const parsed = parseCanonical(text);
  const { domain = null, opening = null, rounds = null } = parsed.document;
  for (const part of [domain, opening, rounds]) await load(part);
  const shuffle = parsed.document.shuffle && (await import("../tasks/shuffle.js"));
  const notice = readNotice(parsed, shuffle ? shuffle.readShuffle : undefined);
  (await extraOf(notice))?.checkNotice?.(notice);
  return notice;
}

/** Loads what a task with blind tokens or a longitudinal task needs. */
async function extraOf({ collection, distinct }: Notice): Promise<Extra | undefined> {
  const { issuer, defence } = collection ?? {};
  if ((issuer ?? defence) !== undefined) return import("./blind_token.js");
  return distinct ? import("./permanent.js") : undefined;
}
