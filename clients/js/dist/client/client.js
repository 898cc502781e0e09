import { answered, kept, pageOf, refuseAgain } from "./ledger_file.js";
import { hex, unhex } from "../bytes.js";
import { parse } from "../wire/codec.js";
import { asks, enrolled, place } from "../core/coin.js";
import { anyIndex } from "../domains/base.js";
import { AccessError, BudgetError, MismatchError } from "../errors.js";
import { load } from "../core/registry.js";
import { message, questions } from "./message.js";
import { SystemRandom } from "../core/rng.js";
import { checkRound, readNotice, readRound } from "../tasks/notice.js";
export class Client {
    notice;
    ledger;
    token;
    remembering;
    #random = new SystemRandom();
    constructor(notice, ledger, token, remembering) {
        this.notice = notice;
        this.ledger = ledger;
        this.token = token;
        this.remembering = remembering;
    }
    static async open(task, ledger, token) {
        const content = parse(task);
        for (const part of [content.domain, content.opening])
            await load(part ?? null);
        const notice = readNotice(content);
        const again = notice.distinct ? await import("./permanent.js") : undefined;
        const own = notice.collection?.enrolment ? token : undefined;
        return new Client(notice, ledger, own, again?.remembering);
    }
    async round(content) {
        await load(content);
        return checkRound(this.notice, readRound(content));
    }
    coin() {
        return this.ledger.update((book) => place(this.#kept(book), this.notice.digest));
    }
    async check(round = this.notice.opening) {
        checkRound(this.notice, round);
        await this.coin();
        await this.ledger.update((book) => this.#check(book, round));
    }
    async answer(value, round = this.notice.opening) {
        await this.check(round);
        return this.ledger.update((book) => this.respond(book, value, round));
    }
    respond(book, value, round) {
        const { notice } = this;
        const held = notice.domain.index(value);
        const asked = questions(notice, checkRound(notice, round), this.#check(book, round));
        if (!held.public === notice.declares.includes("public"))
            throw new MismatchError("a task declares that reports have a public part, or asks for no public columns");
        const rehearsal = notice.collection?.sandbox;
        const index = rehearsal ? anyIndex(notice.domain, this.#random) : held;
        const spend = { ...this.#spend(round), name: notice.name, epsilon: rehearsal ? "0.0" : notice.epsilon };
        return answered(book, spend, this.ledger.now(), () => message(notice, round, asked, index, this.#random, this.remembering?.(notice, this.#memory(book))));
    }
    async resend(round) {
        const { messages } = await this.ledger.update((book) => pageOf(book, this.notice.digest));
        const made = round ? messages[round.number] : Object.values(messages).pop();
        if (!made)
            throw new BudgetError("this device has not answered this task");
        return unhex(made);
    }
    async explain(round = this.notice.opening) {
        const { explain } = await import("../wire/statement.js");
        return explain(this.notice, round, await this.ledger.spent());
    }
    #check(book, round) {
        const { digest } = this.notice;
        const bytes = this.#kept(book);
        refuseAgain(book, this.#spend(round));
        if (!asks(round, place(bytes, digest))) {
            throw new MismatchError("not asked in this round");
        }
        return bytes;
    }
    #kept(book) {
        const { digest, collection } = this.notice;
        const given = this.token === undefined ? undefined : enrolled(this.token, digest);
        if (collection?.enrolment && !given)
            throw new AccessError("this task asks enrolled devices only");
        const bytes = kept(pageOf(book, digest), "coin", given ?? this.#random.bytes(16));
        if (given && hex(given) !== hex(bytes))
            throw new MismatchError("this device had its coin before it got this enrolment token");
        return bytes;
    }
    #memory(book) {
        const page = pageOf(book, this.notice.digest);
        return { secret: kept(page, "secret", this.#random.bytes(32)), slot: (number) => (page.memo[number] ??= []) };
    }
    #spend({ number }) {
        return { task: this.notice.digest, round: number, lasting: this.notice.distinct !== undefined };
    }
}
