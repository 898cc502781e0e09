// Randomness as an argument: a source of words, and the two draws that every randomiser is made of.
// How words are consumed is frozen, so that a recorded stream replays in any language.

import { MissingExtraError, need } from "../errors.js";

/** A threshold in two words, so that no draw needs a big integer. */
export type Halves = readonly [high: number, low: number];

export function halves(threshold: bigint): Halves {
  return [Number(threshold >> 32n), Number(threshold & 0xffffffffn)];
}

/** A stream of random bytes, read as little-endian words. */
export abstract class Random {
  abstract bytes(count: number): Uint8Array;

  word(): number {
    return new DataView(this.bytes(4).buffer).getUint32(0, true);
  }

  /** Returns a coin that is true with probability threshold / 2^64. */
  bernoulli([top, bottom]: Halves): boolean {
    const low = this.word();
    const high = this.word();
    return high < top || (high === top && low < bottom);
  }

  /** Returns an integer uniform in [0, limit), limit below 2^32, without bias. */
  integer(limit: number): number {
    for (;;) {
      const drawn = this.attempt(limit);
      if (drawn >= 0) return drawn;
    }
  }

  /** Returns such an integer, or -1 if its word would favour some outcome. */
  attempt(limit: number): number {
    const word = this.word();
    return Math.imul(word, limit) >>> 0 < 0x100000000 % limit ? -1 : multiplyHigh(word, limit);
  }

  /** Returns an integer uniform in [0, limit), limit from 2^32 to 2^63. */
  wide(limit: bigint): bigint {
    for (;;) {
      const drawn = this.attemptWide(limit);
      if (drawn >= 0n) return drawn;
    }
  }

  /** Returns such an integer, or -1 if it was not below the limit. */
  attemptWide(limit: bigint): bigint {
    need(limit <= 1n << 63n, "a range of random integers is at most 2^63");
    const low = this.word();
    const drawn = BigInt.asUintN((limit - 1n).toString(2).length, (BigInt(this.word()) << 32n) | BigInt(low));
    return drawn < limit ? drawn : -1n;
  }
}

/** The system's cryptographic randomness: the only source that devices use.  What was used is wiped. */
export class SystemRandom extends Random {
  #pool = new Uint32Array(2048); // one call may fill at most 65,536 bytes
  #used = 2048;

  constructor() {
    super();
    if (!globalThis.crypto?.getRandomValues) throw new MissingExtraError("no cryptographic randomness here");
  }

  override word(): number {
    if (this.#used === this.#pool.length) {
      crypto.getRandomValues(this.#pool);
      this.#used = 0;
    }
    const word = this.#pool[this.#used]!;
    this.#pool[this.#used++] = 0;
    return word;
  }

  bytes(count: number): Uint8Array {
    return crypto.getRandomValues(new Uint8Array(count));
  }
}

/** Returns the high 32 bits of the product of two 32-bit words. */
export function multiplyHigh(a: number, b: number): number {
  const [high, low, up, down] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = high * down + ((low * down) >>> 16);
  return high * up + (middle >>> 16) + ((low * up + (middle & 0xffff)) >>> 16);
}
