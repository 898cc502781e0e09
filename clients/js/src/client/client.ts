// The device's side: it checks the price, charges the ledger, randomises, and only then lets bytes leave.
// Randomness is the system's; there is no way to pass in another.

import type { Book } from "./ledger_file.js";
import { answered, kept, pageOf, refuseAgain } from "./ledger_file.js";
import { hex, unhex } from "../bytes.js";
import type { Content } from "../wire/codec.js";
import { parse } from "../wire/codec.js";
import { asks, enrolled, place } from "../core/coin.js";
import type { Holdings } from "../domains/base.js";
import { anyIndex } from "../domains/base.js";
import { AccessError, BudgetError, MismatchError } from "../errors.js";
import { load } from "../core/registry.js";
import type { Ledger } from "./ledger.js";
import type { Memory } from "./permanent.js";
import type { Report } from "./message.js";
import { message, questions } from "./message.js";
import { SystemRandom } from "../core/rng.js";
import type { Notice, Round } from "../tasks/notice.js";
import { checkRound, readNotice, readRound } from "../tasks/notice.js";

/** Answers one task for one person: once, or in a longitudinal task once a round. */
export class Client {
  readonly #random = new SystemRandom();

  private constructor(
    readonly notice: Notice,
    readonly ledger: Ledger,
    readonly token?: string,
    readonly remembering?: (notice: Notice, memory: Memory) => Report,
  ) {}

  /** `task` is the text of the published document, `token` what its collector enrolled this device with. */
  static async open(task: string, ledger: Ledger, token?: string): Promise<Client> {
    const content = parse(task);
    for (const part of [content.domain, content.opening]) await load(part ?? null);
    const notice = readNotice(content);
    const again = notice.distinct ? await import("./permanent.js") : undefined;
    const own = notice.collection?.enrolment ? token : undefined; // nobody else gets to see it
    return new Client(notice, ledger, own, again?.remembering);
  }

  /** Returns the round in a document, or refuses one that the task did not announce. */
  async round(content: Content): Promise<Round> {
    await load(content);
    return checkRound(this.notice, readRound(content));
  }

  /** Returns this device's public coin for the task, in units of 2^-64; drawn once and kept. */
  coin(): Promise<bigint> {
    return this.ledger.update((book) => place(this.#kept(book), this.notice.digest));
  }

  /** Raises unless this device is asked in the round and has not answered it. */
  async check(round: Round = this.notice.opening): Promise<void> {
    checkRound(this.notice, round);
    await this.coin(); // kept before anything can be refused
    await this.ledger.update((book) => this.#check(book, round));
  }

  /** Returns the message that may leave the device; spends the task's epsilon, once. */
  async answer(value: unknown, round: Round = this.notice.opening): Promise<Uint8Array> {
    await this.check(round);
    return this.ledger.update((book) => this.respond(book, value, round));
  }

  /** Returns the message within a transaction that writes the charge and the message together, or neither. */
  respond(book: Book, value: unknown, round: Round): Uint8Array {
    const { notice } = this;
    const held = notice.domain.index(value); // refused values and questions are never charged
    const asked = questions(notice, checkRound(notice, round), this.#check(book, round));
    if (!(held as Holdings).public === notice.declares.includes("public"))
      throw new MismatchError("a task declares that reports have a public part, or asks for no public columns");
    const rehearsal = notice.collection?.sandbox;
    const index = rehearsal ? anyIndex(notice.domain, this.#random) : held;
    const spend = { ...this.#spend(round), name: notice.name, epsilon: rehearsal ? "0.0" : notice.epsilon };
    return answered(book, spend, this.ledger.now(), () =>
      message(notice, round, asked, index, this.#random, this.remembering?.(notice, this.#memory(book))),
    );
  }

  /** Returns the bytes of the answer to a round, or of the last one given; they never change. */
  async resend(round?: Round): Promise<Uint8Array> {
    const { messages } = await this.ledger.update((book) => pageOf(book, this.notice.digest));
    const made = round ? messages[round.number] : Object.values(messages).pop(); // rounds stand in their order
    if (!made) throw new BudgetError("this device has not answered this task");
    return unhex(made);
  }

  /** Returns in plain words what answering reveals. */
  async explain(round: Round = this.notice.opening): Promise<string> {
    const { explain } = await import("../wire/statement.js");
    return explain(this.notice, round, await this.ledger.spent());
  }

  #check(book: Book, round: Round): Uint8Array {
    const { digest } = this.notice;
    const bytes = this.#kept(book);
    refuseAgain(book, this.#spend(round));
    if (!asks(round, place(bytes, digest))) {
      throw new MismatchError("not asked in this round");
    }
    return bytes;
  }

  #kept(book: Book): Uint8Array {
    const { digest, collection } = this.notice;
    const given = this.token === undefined ? undefined : enrolled(this.token, digest);
    if (collection?.enrolment && !given) throw new AccessError("this task asks enrolled devices only");
    const bytes = kept(pageOf(book, digest), "coin", given ?? this.#random.bytes(16));
    if (given && hex(given) !== hex(bytes))
      throw new MismatchError("this device had its coin before it got this enrolment token");
    return bytes;
  }

  #memory(book: Book): Memory {
    const page = pageOf(book, this.notice.digest);
    return { secret: kept(page, "secret", this.#random.bytes(32)), slot: (number) => (page.memo[number] ??= []) };
  }

  #spend({ number }: Round) {
    return { task: this.notice.digest, round: number, lasting: this.notice.distinct !== undefined };
  }
}
