// Randomness as an argument: a source of 32-bit words, and the draws that mechanisms are made of.
// The order in which words are used is fixed, so that a recorded stream gives the same report in
// every language.

import { MissingExtraError, need } from "../errors.js";

/** A threshold as two 32-bit words, so that a draw needs no big integer. */
export type ThresholdWords = readonly [high: number, low: number];

export function thresholdWords(threshold: bigint): ThresholdWords {
  return [Number(threshold >> 32n), Number(threshold & 0xffffffffn)];
}

/** A stream of random bytes, read as little-endian words. */
export abstract class Rng {
  abstract bytes(count: number): Uint8Array;

  word(): number {
    return new DataView(this.bytes(4).buffer).getUint32(0, true);
  }

  /** Returns true with probability threshold / 2^64. */
  bernoulli([thresholdHigh, thresholdLow]: ThresholdWords): boolean {
    const low = this.word();
    const high = this.word();
    return high < thresholdHigh || (high === thresholdHigh && low < thresholdLow);
  }

  /** Returns an integer uniform in [0, limit); the limit is below 2^32. */
  integer(limit: number): number {
    for (;;) {
      const drawn = this.tryInteger(limit);
      if (drawn >= 0) return drawn;
    }
  }

  /** Makes one attempt at `integer`: returns -1 for a word that would favour some outcome. */
  tryInteger(limit: number): number {
    const word = this.word();
    const biased = Math.imul(word, limit) >>> 0 < 0x100000000 % limit;
    return biased ? -1 : multiplyHigh(word, limit);
  }

  /** Returns an integer uniform in [0, limit); the limit is from 2^32 to 2^63. */
  wideInteger(limit: bigint): bigint {
    for (;;) {
      const drawn = this.tryWideInteger(limit);
      if (drawn >= 0n) return drawn;
    }
  }

  /** Makes one attempt at `wideInteger`: returns -1 if the draw is not below the limit. */
  tryWideInteger(limit: bigint): bigint {
    need(limit <= 1n << 63n, "`limit` of a random integer must be at most 2^63");
    const low = this.word();
    const bits = (limit - 1n).toString(2).length;
    const drawn = BigInt.asUintN(bits, (BigInt(this.word()) << 32n) | BigInt(low));
    return drawn < limit ? drawn : -1n;
  }
}

/** The system's cryptographic randomness, the only source that devices use. */
export class SystemRng extends Rng {
  #pool = new Uint32Array(2048); // one call may fill at most 65,536 bytes
  #used = 2048;

  constructor() {
    super();
    if (!globalThis.crypto?.getRandomValues)
      throw new MissingExtraError("this platform has no cryptographic randomness");
  }

  override word(): number {
    if (this.#used === this.#pool.length) {
      crypto.getRandomValues(this.#pool);
      this.#used = 0;
    }
    const word = this.#pool[this.#used]!;
    this.#pool[this.#used++] = 0; // a used word is erased
    return word;
  }

  bytes(count: number): Uint8Array {
    return crypto.getRandomValues(new Uint8Array(count));
  }
}

/** Returns the high 32 bits of the product of two 32-bit words. */
export function multiplyHigh(a: number, b: number): number {
  const [aHigh, aLow] = [a >>> 16, a & 0xffff];
  const [bHigh, bLow] = [b >>> 16, b & 0xffff];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  return aHigh * bHigh + (middle >>> 16) + ((aLow * bHigh + (middle & 0xffff)) >>> 16);
}
