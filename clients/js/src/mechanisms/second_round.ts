// The instantaneous round of RAPPOR: what is sent of a remembered row of bits is randomised again.
// Source: Erlingsson 2014.

import { packBits } from "../core/packing.js";
import type { Rng } from "../core/rng.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";

export interface SecondRound {
  /** Returns the chance that both rounds set a bit that the first sets with this chance. */
  chance(first: bigint): number;
  /** Returns a fresh row of so many bits; one word is drawn for each. */
  sent(row: Uint8Array, bits: number, rng: Rng): Uint8Array;
}

/** A remembered 1 is sent as 1 with probability `keep`, a remembered 0 with probability `flip`. */
export function secondRound(keep = 0n, flip = 0n): SecondRound {
  need(flip > 0n, "`second_flip` must be above 0");
  need(keep > flip, "`second_keep` must be above `second_flip`");
  const setWords = thresholdWords(keep);
  const unsetWords = thresholdWords(flip);
  const isSet = (row: Uint8Array, i: number): number => (row[i >> 3]! >> (i & 7)) & 1;
  return {
    chance: (first) => Number(first * keep + (UNIT - first) * flip) / 2 ** 128,
    sent: (row, bits, rng) =>
      packBits(bits, (i) => rng.bernoulli(isSet(row, i) ? setWords : unsetWords)),
  };
}
