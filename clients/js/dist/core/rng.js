import { MissingExtraError, need } from "../errors.js";
export function halves(threshold) {
    return [Number(threshold >> 32n), Number(threshold & 0xffffffffn)];
}
export class Random {
    word() {
        return new DataView(this.bytes(4).buffer).getUint32(0, true);
    }
    bernoulli([top, bottom]) {
        const low = this.word();
        const high = this.word();
        return high < top || (high === top && low < bottom);
    }
    integer(limit) {
        for (;;) {
            const drawn = this.attempt(limit);
            if (drawn >= 0)
                return drawn;
        }
    }
    attempt(limit) {
        const word = this.word();
        return Math.imul(word, limit) >>> 0 < 0x100000000 % limit ? -1 : multiplyHigh(word, limit);
    }
    wide(limit) {
        for (;;) {
            const drawn = this.attemptWide(limit);
            if (drawn >= 0n)
                return drawn;
        }
    }
    attemptWide(limit) {
        need(limit <= 1n << 63n, "a range of random integers is at most 2^63");
        const low = this.word();
        const drawn = BigInt.asUintN((limit - 1n).toString(2).length, (BigInt(this.word()) << 32n) | BigInt(low));
        return drawn < limit ? drawn : -1n;
    }
}
export class SystemRandom extends Random {
    #pool = new Uint32Array(2048);
    #used = 2048;
    constructor() {
        super();
        if (!globalThis.crypto?.getRandomValues)
            throw new MissingExtraError("no cryptographic randomness here");
    }
    word() {
        if (this.#used === this.#pool.length) {
            crypto.getRandomValues(this.#pool);
            this.#used = 0;
        }
        const word = this.#pool[this.#used];
        this.#pool[this.#used++] = 0;
        return word;
    }
    bytes(count) {
        return crypto.getRandomValues(new Uint8Array(count));
    }
}
export function multiplyHigh(a, b) {
    const [high, low, up, down] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
    const middle = high * down + ((low * down) >>> 16);
    return high * up + (middle >>> 16) + ((low * up + (middle & 0xffff)) >>> 16);
}
