// The device's side of a task: it checks the price, charges the ledger, randomises the value, and
// only then returns bytes that may leave.  Randomness always comes from the system.

import { hex, unhex } from "../bytes.js";
import { enrolledBytes, roundCoin } from "../core/coin.js";
import { load } from "../core/registry.js";
import { SystemRng } from "../core/rng.js";
import type { PersonTables } from "../domains/base.js";
import { randomIndex } from "../domains/base.js";
import { AccessError, BudgetError, MismatchError } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import { checkRound, readNotice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import { asksCoin, readRound } from "../tasks/round.js";
import type { Document } from "../wire/codec.js";
import { parse } from "../wire/codec.js";
import type { Ledger } from "./ledger.js";
import type { LedgerFile } from "./ledger_file.js";
import { answerOnce, keepBytes, refuseAgain, taskEntry } from "./ledger_file.js";
import type { MakePayload } from "./message.js";
import { questionsFor, writeMessage } from "./message.js";
import type { Memory } from "./permanent.js";

/** Answers one task for one person: once, or once per round if the task is longitudinal. */
export class Client {
  readonly #rng = new SystemRng();

  private constructor(
    readonly notice: Notice,
    readonly ledger: Ledger,
    readonly token?: string,
    readonly permanentPayload?: (notice: Notice, memory: Memory) => MakePayload,
  ) {}

  /** Reads a task from the text of its document; `token` is the enrolment token, if any. */
  static async open(task: string, ledger: Ledger, token?: string): Promise<Client> {
    const document = parse(task);
    for (const part of [document.domain, document.opening]) await load(part ?? null);
    const notice = readNotice(document);
    const permanent = notice.distinct ? await import("./permanent.js") : undefined;
    const ownToken = notice.collection?.enrolment ? token : undefined; // other tasks never see it
    return new Client(notice, ledger, ownToken, permanent?.permanentPayload);
  }

  /** Returns the round in a document; refuses a round that the task did not announce. */
  async round(document: Document): Promise<Round> {
    await load(document);
    return checkRound(this.notice, readRound(document));
  }

  /** Returns this device's public coin for the task, in units of 2^-64. */
  coin(): Promise<bigint> {
    return this.ledger.update((file) => roundCoin(this.#deviceBytes(file), this.notice.digest));
  }

  /** Throws unless the round asks this device and the device has not answered it. */
  async check(round: Round = this.notice.opening): Promise<void> {
    checkRound(this.notice, round);
    await this.coin(); // stored before anything can be refused
    await this.ledger.update((file) => this.#check(file, round));
  }

  /** Returns the message that may leave the device; spends the task's epsilon, once. */
  async answer(value: unknown, round: Round = this.notice.opening): Promise<Uint8Array> {
    await this.check(round);
    return this.ledger.update((file) => this.respond(file, value, round));
  }

  /** Returns the message; the caller's transaction stores charge and message together. */
  respond(file: LedgerFile, value: unknown, round: Round): Uint8Array {
    const { notice } = this;
    const held = notice.domain.index(value); // a value or question that is refused is not charged
    const deviceBytes = this.#check(file, round);
    const questions = questionsFor(notice, checkRound(notice, round), deviceBytes);
    if (!(held as PersonTables).public === notice.declares.includes("public"))
      throw new MismatchError("a task must declare `public` exactly if it has public columns");
    const sandbox = notice.collection?.sandbox;
    const index = sandbox ? randomIndex(notice.domain, this.#rng) : held;
    const epsilon = sandbox ? "0.0" : notice.epsilon;
    const spend = { ...this.#spendOf(round), name: notice.name, epsilon };
    const makePayload = this.permanentPayload?.(notice, this.#memory(file));
    const parts = { notice, round, questions, index, makePayload };
    return answerOnce(file, spend, this.ledger.clock(), () => writeMessage(parts, this.#rng));
  }

  /** Returns the bytes of the answer to a round, or of the last answer; they never change. */
  async resend(round?: Round): Promise<Uint8Array> {
    const { messages } = await this.ledger.update((file) => taskEntry(file, this.notice.digest));
    const message = round ? messages[round.number] : Object.values(messages).pop(); // by round
    if (!message) throw new BudgetError("this device has not answered this task");
    return unhex(message);
  }

  /** Returns in plain words what answering reveals. */
  async explain(round: Round = this.notice.opening): Promise<string> {
    const { explainFor } = await import("./spending.js");
    return explainFor(this.ledger, this.notice, round);
  }

  #check(file: LedgerFile, round: Round): Uint8Array {
    const deviceBytes = this.#deviceBytes(file);
    refuseAgain(file, this.#spendOf(round));
    if (!asksCoin(round, roundCoin(deviceBytes, this.notice.digest)))
      throw new MismatchError("this device is not asked in this round");
    return deviceBytes;
  }

  /** Returns the 16 bytes of this device for the task: drawn once, or given by the enrolment. */
  #deviceBytes(file: LedgerFile): Uint8Array {
    const { digest, collection } = this.notice;
    const enrolled = this.token === undefined ? undefined : enrolledBytes(this.token, digest);
    if (collection?.enrolment && !enrolled)
      throw new AccessError("this task needs an enrolment token");
    const bytes = keepBytes(taskEntry(file, digest), "coin", enrolled ?? this.#rng.bytes(16));
    if (enrolled && hex(enrolled) !== hex(bytes))
      throw new MismatchError("this device had its coin before it got this enrolment token");
    return bytes;
  }

  #memory(file: LedgerFile): Memory {
    const entry = taskEntry(file, this.notice.digest);
    const secret = keepBytes(entry, "secret", this.#rng.bytes(32));
    return { secret, responses: (slot) => (entry.responses[slot] ??= []) };
  }

  #spendOf({ number }: Round) {
    const { digest, distinct } = this.notice;
    return { task: digest, round: number, longitudinal: distinct !== undefined };
  }
}
