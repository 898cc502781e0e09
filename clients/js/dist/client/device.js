import { hex } from "../bytes.js";
import { SystemRng } from "../core/rng.js";
import { BudgetError, MismatchError, StateError } from "../errors.js";
import { isDocument } from "../wire/codec.js";
import { Client } from "./client.js";
import { claim, dueReports, post, secondsToNext, settle } from "./outbox.js";
import { fetchRound, fetchTask, send } from "./transport.js";
const DEFAULT_DELAY = 60;
const FIRST_WAIT = 60;
const MAX_WAIT = 86_400;
const MAX_TIMER = 2 ** 31 - 1;
export class Device {
    url;
    ledger;
    #options;
    #rng = new SystemRng();
    #timer;
    constructor(url, options) {
        this.url = url.replace(/\/+$/, "");
        this.ledger = options.ledger;
        this.#options = options;
    }
    async answer(name, value) {
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
        if (delay)
            await this.#schedule();
        else
            await this.flush();
    }
    async explain(name) {
        const { client, round } = await this.#open(name);
        return client.explain(round);
    }
    async flush({ force = false } = {}) {
        const counts = { sent: 0, refused: 0, waiting: 0 };
        const { ledger, url } = this;
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
        return counts;
    }
    close() {
        clearTimeout(this.#timer);
    }
    async #open(name) {
        const { text, etag } = await fetchTask(this.url, name);
        const client = await Client.open(text, this.ledger, this.#options.token);
        const { notice } = client;
        const { digest, state, round } = await fetchRound(this.url, name);
        const stated = [digest, etag ?? notice.digest, this.#options.digest ?? notice.digest];
        if (notice.name !== name || stated.some((other) => other !== notice.digest))
            throw new MismatchError("the collector published another task than it states, or than this application expects");
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
