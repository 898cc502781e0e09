import { hex, unhex } from "../bytes.js";
import { enrolledBytes, roundCoin } from "../core/coin.js";
import { load } from "../core/registry.js";
import { SystemRng } from "../core/rng.js";
import { randomIndex } from "../domains/base.js";
import { AccessError, BudgetError, DomainError, MismatchError, need } from "../errors.js";
import { checkPublic, checkRound, readNotice } from "../tasks/notice.js";
import { asksCoin, readRound } from "../tasks/round.js";
import { parseCanonical } from "../wire/codec.js";
import { checkAccepts, refuseChanged, refuseUnaccepted, remember } from "./accepts.js";
import { answerOnce, keepBytes, MESSAGE_DAYS, refuseAgain, taskEntry } from "./ledger_file.js";
import { questionsFor, writeMessage } from "./message.js";
const UNREADABLE = "a value must be of the kind that the task asks for";
export class Client {
    notice;
    ledger;
    permanentPayload;
    token;
    #rng = new SystemRng();
    #accepts;
    #notify;
    #origin;
    constructor(notice, ledger, { token, accepts = {}, notify, origin = "" }, permanentPayload) {
        this.notice = notice;
        this.ledger = ledger;
        this.permanentPayload = permanentPayload;
        this.token = notice.collection?.enrolment ? token : undefined;
        this.#accepts = checkAccepts(accepts);
        this.#notify = notify;
        this.#origin = origin;
    }
    static async open(task, ledger, options = {}) {
        const notice = typeof task === "string" ? await noticeOf(task) : task;
        const permanent = notice.distinct ? await import("./permanent.js") : undefined;
        return new Client(notice, ledger, options, permanent?.permanentPayload);
    }
    async round(document) {
        await load(document);
        return checkRound(this.notice, readRound(document));
    }
    coin() {
        return this.ledger.update((file) => roundCoin(this.#deviceBytes(file), this.notice.digest));
    }
    async checkTask(round) {
        this.#checkTask(round);
        const { notice } = this;
        const asked = { origin: this.#origin, notice, accepts: this.#accepts };
        await this.ledger.update((file) => {
            taskEntry(file, notice.digest);
            refuseChanged(file, asked);
        });
    }
    async check(round = this.notice.opening) {
        this.#checkTask(round);
        await this.coin();
        await this.ledger.update((file) => void this.#questions(file, round));
    }
    async answer(value, round = this.notice.opening, sealing) {
        await this.check(round);
        need(sealing || !this.notice.shuffle, "`sealing` is missing: a shuffled task is answered with the keys of its round");
        const sealed = await sealing?.answer(this, value);
        const answer = await this.ledger.update((file) => this.respond(file, value, round, sealed));
        if (answer.outside !== undefined)
            this.#notify?.(answer.outside);
        return answer.message;
    }
    respond(file, value, round, sealed) {
        const { notice } = this;
        this.#checkTask(round);
        const questions = this.#questions(file, round);
        const makePayload = this.permanentPayload?.(notice, this.#memory(file));
        const epsilon = this.#isRehearsal ? "0.0" : notice.epsilon;
        const conditional = this.#isRehearsal ? undefined : notice.shuffle?.conditional(epsilon);
        const spend = { ...this.#spendOf(round), name: notice.name, epsilon, conditional };
        let outside;
        const make = () => {
            remember(file, this.#origin, notice);
            outside = sealed?.outside;
            if (sealed)
                return sealed.message;
            const held = this.#indexOf(value);
            outside = held.outside;
            return writeMessage({ notice, round, questions, index: held.index, makePayload }, this.#rng);
        };
        const message = answerOnce(file, spend, this.ledger.clock(), make);
        return { message, outside };
    }
    async resend(round) {
        const { messages } = await this.ledger.update((file) => taskEntry(file, this.notice.digest));
        const message = round ? messages[round.number] : Object.values(messages).pop();
        if (!message)
            throw new BudgetError("this device has not answered this task");
        if (!message.bytes)
            throw new BudgetError(`the message of this task arrived more than ${MESSAGE_DAYS} days ago, ` +
                "and this device has erased it");
        return unhex(message.bytes);
    }
    agree() {
        return this.ledger.update((file) => remember(file, this.#origin, this.notice));
    }
    async explain(round = this.notice.opening) {
        const { explainFor } = await import("./spending.js");
        return explainFor(this.ledger, this.notice, round);
    }
    get #isRehearsal() {
        return this.notice.collection?.sandbox ?? false;
    }
    #checkTask(round) {
        refuseUnaccepted(this.notice, this.#accepts);
        checkPublic(this.notice);
        checkRound(this.notice, round);
    }
    #questions(file, round) {
        const { notice } = this;
        refuseChanged(file, { origin: this.#origin, notice, accepts: this.#accepts });
        const deviceBytes = this.#deviceBytes(file);
        refuseAgain(file, this.#spendOf(round));
        if (!asksCoin(round, roundCoin(deviceBytes, notice.digest)))
            throw new MismatchError("this round is put to other users: this device's coin lies outside its share");
        return questionsFor(notice, round, deviceBytes);
    }
    #indexOf(value) {
        const { domain } = this.notice;
        const fallback = randomIndex(domain, this.#rng);
        if (this.#isRehearsal)
            return { index: fallback };
        try {
            return { index: domain.index(value) };
        }
        catch (error) {
            const isOurs = error instanceof DomainError;
            return { index: fallback, outside: isOurs ? error.message : UNREADABLE };
        }
    }
    #deviceBytes(file) {
        const { digest, collection } = this.notice;
        const enrolled = this.token === undefined ? undefined : enrolledBytes(this.token, digest);
        if (collection?.enrolment && !enrolled)
            throw new AccessError("this task asks enrolled devices only, and this device has no token");
        if (collection?.issuer && !taskEntry(file, digest).token)
            throw new AccessError("this task needs a blind token, and this device has none yet");
        const bytes = keepBytes(taskEntry(file, digest), "coin", enrolled ?? this.#rng.bytes(16));
        if (enrolled && hex(enrolled) !== hex(bytes))
            throw new MismatchError("this device had its coin for the task before it got this enrolment token");
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
export async function noticeOf(text) {
    const parsed = parseCanonical(text);
    const { domain = null, opening = null } = parsed.document;
    for (const part of [domain, opening])
        await load(part);
    const shuffle = parsed.document.shuffle && (await import("../tasks/shuffle.js"));
    return readNotice(parsed, shuffle ? shuffle.readShuffle : undefined);
}
