import { hex } from "../bytes.js";
import { Client } from "./client.js";
import { BudgetError, MismatchError, StateError } from "../errors.js";
import { isContent } from "../wire/codec.js";
import { claim, due, enqueue, next, settle } from "./outbox.js";
import { SystemRandom } from "../core/rng.js";
import { fetchRound, fetchTask, post } from "./transport.js";
const DELAY = 60;
const FIRST_WAIT = 60;
const LONGEST_WAIT = 86_400;
const LONGEST_TIMER = 2 ** 31 - 1;
export class Device {
    url;
    ledger;
    #options;
    #random = new SystemRandom();
    #timer;
    constructor(url, options) {
        this.url = url.replace(/\/+$/, "");
        this.ledger = options.ledger;
        this.#options = options;
    }
    async answer(name, value) {
        const { client, round } = await this.#asked(name);
        await client.check(round);
        const { consent, delay = DELAY } = this.#options;
        const request = { notice: client.notice, round, text: await client.explain(round) };
        if (consent && !(await consent(request)))
            throw new BudgetError("the owner of this device has not agreed");
        await this.ledger.update((book) => {
            const report = hex(client.respond(book, value, round));
            const token = client.token === undefined ? {} : { token: client.token };
            const parcel = { url: this.url, name, task: client.notice.digest, round: round.number, report, ...token };
            enqueue(book, parcel, this.ledger.now(), this.#uniform(delay));
        });
        if (delay)
            await this.#schedule();
        else
            await this.flush();
    }
    async explain(name) {
        const { client, round } = await this.#asked(name);
        return client.explain(round);
    }
    async flush({ force = false } = {}) {
        const count = { sent: 0, refused: 0, waiting: 0 };
        const { ledger } = this;
        for (const one of await ledger.update((book) => due(book, this.url, ledger.now(), force))) {
            const parcel = await ledger.update((book) => claim(book, one, ledger.now()));
            if (!parcel)
                continue;
            const outcome = this.#patient(await post(parcel), parcel.attempts);
            count[await ledger.update((book) => settle(book, parcel, outcome, ledger.now()))]++;
            if (outcome !== "sent" && "away" in outcome && outcome.away)
                break;
        }
        await this.#schedule();
        return count;
    }
    close() {
        clearTimeout(this.#timer);
    }
    async #asked(name) {
        const { text, tag } = await fetchTask(this.url, name);
        const client = await Client.open(text, this.ledger, this.#options.token);
        const { notice } = client;
        const { digest, state, round } = await fetchRound(this.url, name);
        const claimed = [digest, tag ?? notice.digest, this.#options.digest ?? notice.digest];
        if (notice.name !== name || claimed.some((one) => one !== notice.digest)) {
            throw new MismatchError("the collector published another task than it claims, or than this application expects");
        }
        if (state !== "open" || !isContent(round))
            throw new StateError("this task does not ask for answers now");
        return { client, round: await client.round(round) };
    }
    #patient(outcome, attempts) {
        if (outcome === "sent" || "refused" in outcome)
            return outcome;
        const half = (FIRST_WAIT * 2 ** (attempts - 1)) / 2;
        return { ...outcome, wait: Math.min(Math.max(outcome.wait, half), LONGEST_WAIT) + this.#uniform(half) };
    }
    #uniform(seconds) {
        return (seconds * this.#random.word()) / 2 ** 32;
    }
    async #schedule() {
        clearTimeout(this.#timer);
        const seconds = await this.ledger.update((book) => next(book, this.url, this.ledger.now()));
        clearTimeout(this.#timer);
        if (seconds === undefined)
            return;
        const flush = () => void this.flush().catch(() => { });
        this.#timer = setTimeout(flush, Math.min(1000 * seconds + 10, LONGEST_TIMER));
        this.#timer.unref?.();
    }
}
