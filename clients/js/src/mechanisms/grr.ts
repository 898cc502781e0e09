// Generalised randomised response: the value with probability `keep`, otherwise any other value
// with equal probability.
// Source: Wang 2021, section 3.3.1.

import { littleEndian } from "../bytes.js";
import { unsignedWidth } from "../core/packing.js";
import type { Rng, ThresholdWords } from "../core/rng.js";
import { thresholdWords } from "../core/rng.js";
import type { Ratio } from "../maths/exact.js";
import { UNIT } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";

const SHAPE = { keep: threshold };

export const read = mechanismReader("grr", [2, 2 ** 32], SHAPE, ({ size, keep }) => {
  const keepWords = thresholdWords(keep);
  const width = unsignedWidth(size);
  return {
    worstRatio: responseRatio(keep, size),
    width,
    share: 1 / size,
    permanent: (index: number, rng) => littleEndian(respond(index, size, keepWords, rng), width),
  };
});

/** Returns the index, or with probability 1 - keep another index below `size`. */
export function respond(index: number, size: number, keep: ThresholdWords, rng: Rng): number {
  const honest = rng.bernoulli(keep);
  const drawn = rng.integer(size - 1);
  const other = drawn >= index ? drawn + 1 : drawn; // uniform over the indices other than `index`
  return honest ? index : other;
}

/** Returns p/q of randomised response: keep / ((1 - keep) / (size - 1)). */
export function responseRatio(keep: bigint, size: number): Ratio {
  return [keep * BigInt(size - 1), UNIT - keep];
}
