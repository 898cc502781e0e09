import { hex } from "../bytes.js";
import { SystemRng } from "../core/rng.js";
import { BudgetError, MismatchError, need, StateError } from "../errors.js";
import { isDocument } from "../wire/codec.js";
import { Client } from "./client.js";
import { claim, dueReports, post, secondsToNext, settle, waitingReports } from "./outbox.js";
import { fetchRound, fetchTask, send } from "./transport.js";
const DEFAULT_DELAY = 60;
const FIRST_WAIT = 60;
const MAX_WAIT = 86_400;
const MAX_TIMER = 2 ** 31 - 1;
export class Device {
    url;
    ledger;
    delay;
    #token;
    #consent;
    #digests;
    #rng = new SystemRng();
    #timer;
    constructor(url, options) {
        const { ledger, token, consent, delay = DEFAULT_DELAY, digests = {} } = options;
        need(delay >= 0 && isFinite(delay), "`delay` must be a number of seconds from 0 up");
        this.url = url.replace(/\/+$/, "");
        this.ledger = ledger;
        this.delay = delay;
        this.#token = token;
        this.#consent = consent;
        this.#digests = new Map(Object.entries(digests));
    }
    async answer(name, value) {
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
        if (this.delay)
            await this.#schedule();
        else
            await this.flush();
        return message;
    }
    async explain(name) {
        const { client, round } = await this.#open(name);
        return client.explain(round);
    }
    async flush({ force = false } = {}) {
        const { ledger, url } = this;
        const counts = { sent: 0, refused: 0, waiting: 0 };
        const due = await ledger.update((file) => dueReports(file, url, ledger.clock(), force));
        for (const candidate of due) {
            const report = await ledger.update((file) => claim(file, candidate, ledger.clock()));
            if (!report)
                continue;
            const receipt = this.#withWait(await send(report), report.attempts);
            counts[await ledger.update((file) => settle(file, report, receipt, ledger.clock()))]++;
            if (receipt !== "sent" && "wait" in receipt && receipt.unavailable)
                break;
        }
        await this.#schedule();
        const waiting = await ledger.update((file) => waitingReports(file, url).length);
        return { sent: counts.sent, refused: counts.refused, waiting };
    }
    optOut() {
        return this.ledger.optOut();
    }
    close() {
        clearTimeout(this.#timer);
    }
    async #open(name) {
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
    #withWait(receipt, attempts) {
        if (receipt === "sent" || "refused" in receipt)
            return receipt;
        const half = (FIRST_WAIT * 2 ** (attempts - 1)) / 2;
        const wait = Math.min(Math.max(receipt.wait, half), MAX_WAIT) + this.#uniform(half);
        return { ...receipt, wait };
    }
    #uniform(seconds) {
        return (seconds * this.#rng.word()) / 2 ** 32;
    }
    async #schedule() {
        clearTimeout(this.#timer);
        const { ledger, url } = this;
        const seconds = await ledger.update((file) => secondsToNext(file, url, ledger.clock()));
        clearTimeout(this.#timer);
        if (seconds === undefined)
            return;
        const flush = () => void this.flush().catch(() => { });
        this.#timer = setTimeout(flush, Math.min(1000 * seconds + 10, MAX_TIMER));
        this.#timer.unref?.();
    }
}
