import { base64url, hex } from "../bytes.js";
import { checkUrl } from "../core/addresses.js";
import { SystemRng } from "../core/rng.js";
import { BudgetError, MismatchError, need, StateError } from "../errors.js";
import { canonical, isDocument } from "../wire/codec.js";
import { checkAccepts, remember } from "./accepts.js";
import { Client, noticeOf } from "./client.js";
import { claim, dueReports, post, refuseFull, secondsToNext, settle, waitingReports, } from "./outbox.js";
import { DEFAULT_TIMEOUT, fetchRound, fetchTask, send } from "./transport.js";
const DEFAULT_DELAY = 60;
const FIRST_WAIT = 60;
const MAX_WAIT = 3600;
const MAX_RETRY_AFTER = 86_400;
const MAX_TIMER = 2 ** 31 - 1;
export class Device {
    url;
    ledger;
    delay;
    relay;
    #token;
    #consent;
    #accepts;
    #notify;
    #collector;
    #witnesses;
    #rng = new SystemRng();
    #timer;
    constructor(url, options) {
        const { delay, timeout = DEFAULT_TIMEOUT, accepts = {}, witnesses = [], relay } = options;
        need(delay === undefined || (delay >= 0 && isFinite(delay)), "`delay` must be a number of at least 0");
        need(timeout > 0 && isFinite(timeout), "`timeout` must be a number above 0");
        this.url = checkUrl("url", url);
        this.ledger = options.ledger;
        this.delay = delay;
        this.relay = relay === undefined ? undefined : checkUrl("relay", relay);
        this.#token = options.token;
        this.#consent = options.consent;
        this.#notify = options.notify;
        this.#accepts = new Map(Object.entries(accepts));
        this.#accepts.forEach(checkAccepts);
        this.#collector = { url: this.url, timeout };
        this.#witnesses = witnesses.map((other) => ({ url: checkUrl("witnesses", other), timeout }));
    }
    async answer(name, value) {
        const { client, round } = await this.#open(name);
        const { notice } = client;
        const shuffled = notice.shuffle && (await this.#prepareShuffled(client, round));
        await client.check(round);
        if (!shuffled?.hasAgreed)
            await this.#askOwner(client, round);
        await this.ledger.update((file) => refuseFull(file, this.url));
        const sealed = await shuffled?.sealing.answer(client, value);
        const wait = this.#uniform(shuffled?.longestWait ?? this.delay ?? DEFAULT_DELAY);
        const { message, outside } = await this.ledger.update((file) => {
            refuseFull(file, this.url);
            const answer = client.respond(file, value, round, sealed);
            const token = client.token === undefined ? {} : { token: client.token };
            const address = { ...this.#addressOf(notice), task: notice.digest, round: round.number };
            const posting = { ...address, message: hex(answer.message), ...token };
            post(file, posting, this.ledger.clock(), wait);
            return answer;
        });
        if (wait)
            await this.#schedule();
        else
            await this.flush();
        if (outside !== undefined)
            this.#notify?.(outside);
        return message;
    }
    async notice(name) {
        const { text, etag } = await fetchTask(this.#collector, name);
        const notice = await noticeOf(text);
        if ((etag ?? notice.digest) !== notice.digest)
            throw new MismatchError("the collector states another digest than its task document has");
        if (notice.name !== name)
            throw new MismatchError("the collector answers with a task of another name");
        return notice;
    }
    async explain(notice) {
        return (await this.#client(notice)).explain();
    }
    agree(notice) {
        return this.ledger.update((file) => remember(file, this.url, notice));
    }
    waiting() {
        return this.ledger.update((file) => waitingReports(file, this.url));
    }
    async flush({ force = false } = {}) {
        const { ledger, url } = this;
        const counts = { sent: 0, refused: 0, waiting: 0 };
        const due = await ledger.update((file) => dueReports(file, url, ledger.clock(), force));
        const unavailable = new Set();
        for (const candidate of due) {
            if (unavailable.has(candidate.url))
                continue;
            const report = await ledger.update((file) => claim(file, candidate, ledger.clock()));
            if (!report)
                continue;
            const receipt = await send(report, this.#collector.timeout);
            const result = this.#withWait(receipt, report.attempts);
            counts[await ledger.update((file) => settle(file, report, result, ledger.clock()))]++;
            if (result !== "sent" && "wait" in result && result.unavailable)
                unavailable.add(report.url);
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
    async #prepareShuffled(client, round) {
        const shuffled = await import("./shuffled.js");
        const { notice } = client;
        await client.checkTask(round);
        const addresses = [this.#collector, ...this.#witnesses];
        const { keys, opened } = await shuffled.fetchKeys(addresses, notice, round);
        const sealing = await shuffled.Sealing.open(notice, round, keys);
        const hasAgreed = await shuffled.isTokenMissing(client);
        if (hasAgreed) {
            await this.#askOwner(client, round);
            await shuffled.obtainToken(client, this.#collector, this.#token);
        }
        return { sealing, hasAgreed, longestWait: this.#longestWait(notice, opened) };
    }
    #longestWait({ collection }, opened) {
        const { seconds = 0 } = collection ?? {};
        if (this.delay !== undefined)
            return this.delay;
        if (opened === undefined || !seconds)
            return DEFAULT_DELAY;
        return Math.min(Math.max(opened + seconds - this.ledger.clock(), 0), seconds);
    }
    async #askOwner(client, round) {
        if (this.#consent && !(await this.#consent(client.notice, await client.explain(round))))
            throw new BudgetError("the owner of this device has not agreed");
    }
    #addressOf({ name, shuffle, fingerprint }) {
        if (!shuffle)
            return { url: this.url, name };
        const url = this.relay ?? shuffle.hops[0].url.replace(/\/+$/, "");
        return { url, name, origin: this.url, fingerprint: base64url(fingerprint) };
    }
    #client(notice) {
        const options = {
            token: this.#token,
            accepts: this.#accepts.get(notice.name),
            origin: this.url,
        };
        return Client.open(notice, this.ledger, options);
    }
    #withWait(receipt, attempts) {
        if (receipt === "sent" || "refused" in receipt)
            return receipt;
        const half = Math.min(FIRST_WAIT * 2 ** (attempts - 1), MAX_WAIT) / 2;
        const wanted = Math.min(receipt.wait, MAX_RETRY_AFTER);
        return { ...receipt, wait: Math.max(wanted, half) + this.#uniform(half) };
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
