import { MissingExtraError, need } from "../errors.js";
export function thresholdWords(threshold) {
    return [Number(threshold >> 32n), Number(threshold & 0xffffffffn)];
}
export class Rng {
    word() {
        return new DataView(this.bytes(4).buffer).getUint32(0, true);
    }
    bernoulli([thresholdHigh, thresholdLow]) {
        const low = this.word();
        const high = this.word();
        return high < thresholdHigh || (high === thresholdHigh && low < thresholdLow);
    }
    integer(limit) {
        for (;;) {
            const drawn = this.tryInteger(limit);
            if (drawn >= 0)
                return drawn;
        }
    }
    tryInteger(limit) {
        const word = this.word();
        const biased = Math.imul(word, limit) >>> 0 < 0x100000000 % limit;
        return biased ? -1 : multiplyHigh(word, limit);
    }
    wideInteger(limit) {
        for (;;) {
            const drawn = this.tryWideInteger(limit);
            if (drawn >= 0n)
                return drawn;
        }
    }
    tryWideInteger(limit) {
        need(limit <= 1n << 63n, "`limit` of a random integer must be at most 2^63");
        const low = this.word();
        const bits = (limit - 1n).toString(2).length;
        const drawn = BigInt.asUintN(bits, (BigInt(this.word()) << 32n) | BigInt(low));
        return drawn < limit ? drawn : -1n;
    }
}
export class SystemRng extends Rng {
    #pool = new Uint32Array(2048);
    #used = 2048;
    constructor() {
        super();
        if (!globalThis.crypto?.getRandomValues)
            throw new MissingExtraError("this platform has no cryptographic randomness");
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
    const [aHigh, aLow] = [a >>> 16, a & 0xffff];
    const [bHigh, bLow] = [b >>> 16, b & 0xffff];
    const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
    return aHigh * bHigh + (middle >>> 16) + ((aLow * bHigh + (middle & 0xffff)) >>> 16);
}
