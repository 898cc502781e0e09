import { hex, unhex } from "../bytes.js";
import { enrolledBytes, roundCoin } from "../core/coin.js";
import { load } from "../core/registry.js";
import { SystemRng } from "../core/rng.js";
import { randomIndex } from "../domains/base.js";
import { AccessError, BudgetError, MismatchError } from "../errors.js";
import { checkRound, readNotice } from "../tasks/notice.js";
import { asksCoin, readRound } from "../tasks/round.js";
import { parse } from "../wire/codec.js";
import { answerOnce, keepBytes, refuseAgain, taskEntry } from "./ledger_file.js";
import { questionsFor, writeMessage } from "./message.js";
export class Client {
    notice;
    ledger;
    token;
    permanentPayload;
    #rng = new SystemRng();
    constructor(notice, ledger, token, permanentPayload) {
        this.notice = notice;
        this.ledger = ledger;
        this.token = token;
        this.permanentPayload = permanentPayload;
    }
    static async open(task, ledger, token) {
        const document = parse(task);
        for (const part of [document.domain, document.opening])
            await load(part ?? null);
        const notice = readNotice(document);
        const permanent = notice.distinct ? await import("./permanent.js") : undefined;
        const ownToken = notice.collection?.enrolment ? token : undefined;
        return new Client(notice, ledger, ownToken, permanent?.permanentPayload);
    }
    async round(document) {
        await load(document);
        return checkRound(this.notice, readRound(document));
    }
    coin() {
        return this.ledger.update((file) => roundCoin(this.#deviceBytes(file), this.notice.digest));
    }
    async check(round = this.notice.opening) {
        checkRound(this.notice, round);
        await this.coin();
        await this.ledger.update((file) => this.#check(file, round));
    }
    async answer(value, round = this.notice.opening) {
        await this.check(round);
        return this.ledger.update((file) => this.respond(file, value, round));
    }
    respond(file, value, round) {
        const { notice } = this;
        const held = notice.domain.index(value);
        const deviceBytes = this.#check(file, round);
        const questions = questionsFor(notice, checkRound(notice, round), deviceBytes);
        if (!held.public === notice.declares.includes("public"))
            throw new MismatchError("a task must declare `public` exactly if it has public columns");
        const sandbox = notice.collection?.sandbox;
        const index = sandbox ? randomIndex(notice.domain, this.#rng) : held;
        const epsilon = sandbox ? "0.0" : notice.epsilon;
        const spend = { ...this.#spendOf(round), name: notice.name, epsilon };
        const makePayload = this.permanentPayload?.(notice, this.#memory(file));
        const parts = { notice, round, questions, index, makePayload };
        return answerOnce(file, spend, this.ledger.clock(), () => writeMessage(parts, this.#rng));
    }
    async resend(round) {
        const { messages } = await this.ledger.update((file) => taskEntry(file, this.notice.digest));
        const message = round ? messages[round.number] : Object.values(messages).pop();
        if (!message)
            throw new BudgetError("this device has not answered this task");
        return unhex(message);
    }
    async explain(round = this.notice.opening) {
        const { explainFor } = await import("./spending.js");
        return explainFor(this.ledger, this.notice, round);
    }
    #check(file, round) {
        const deviceBytes = this.#deviceBytes(file);
        refuseAgain(file, this.#spendOf(round));
        if (!asksCoin(round, roundCoin(deviceBytes, this.notice.digest)))
            throw new MismatchError("this device is not asked in this round");
        return deviceBytes;
    }
    #deviceBytes(file) {
        const { digest, collection } = this.notice;
        const enrolled = this.token === undefined ? undefined : enrolledBytes(this.token, digest);
        if (collection?.enrolment && !enrolled)
            throw new AccessError("this task needs an enrolment token");
        const bytes = keepBytes(taskEntry(file, digest), "coin", enrolled ?? this.#rng.bytes(16));
        if (enrolled && hex(enrolled) !== hex(bytes))
            throw new MismatchError("this device had its coin before it got this enrolment token");
        return bytes;
    }
    #memory(file) {
        const entry = taskEntry(file, this.notice.digest);
        const secret = keepBytes(entry, "secret", this.#rng.bytes(32));
        return { secret, responses: (slot) => (entry.responses[slot] ??= []) };
    }
    #spendOf({ number }) {
        const { digest, distinct } = this.notice;
        return { task: digest, round: number, longitudinal: distinct !== undefined };
    }
}
