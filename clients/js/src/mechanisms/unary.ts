// What unary encodings share: one bit per value of the domain, each randomised on its own.  SUE,
// OUE and THE differ in their thresholds.
// Source: Wang 2021, section 3.3.2.

import { packBits } from "../core/packing.js";
import type { Rng } from "../core/rng.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
import type { Randomizer } from "./base.js";

export const SIZES = [2, 2 ** 20] as const;
export const SHAPE = { keep: threshold, flip: threshold };

/** The bit of the value is set with probability `keep`, every other bit with probability `flip`. */
export function unary(size: number, keep: bigint, flip: bigint): Randomizer {
  need(flip > 0n, "`flip` must be above 0");
  need(keep > flip, "`keep` must be above `flip`");
  const keepWords = thresholdWords(keep);
  const flipWords = thresholdWords(flip);
  return {
    // The worst report sets the bit of one value and not of the other: p (1 - q) / (q (1 - p)).
    worstRatio: [keep * (UNIT - flip), flip * (UNIT - keep)],
    width: Math.ceil(size / 8),
    share: Number(flip) / 2 ** 64,
    overlap: Number(flip) / 2 ** 64,
    permanent(index: number, rng: Rng) {
      const row = packBits(size, () => rng.bernoulli(flipWords));
      const byte = index >> 3;
      const bit = index & 7;
      row[byte] = (row[byte]! & ~(1 << bit)) | (+rng.bernoulli(keepWords) << bit);
      return row;
    },
  };
}
