// RAPPOR with Bloom filters: hash the value to a few bits of a short vector, then flip every bit with the same chance.

import { joined, little } from "../bytes.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { small, threshold } from "../wire/fields.js";
import { wordsOf, xxh32 } from "../maths/hashing.js";
import { kind } from "./base.js";
import { halves, multiplyHigh } from "../core/rng.js";
import { bits as row } from "./unary.js";

const SHAPE = { bits: small, hashes: small, cohorts: small, flip: threshold };

export const bloom = kind("bloom", [2, 2 ** 20], SHAPE, ({ bits, hashes, cohorts, flip }) => {
  const fits = bits <= 65536 && hashes >= 1 && hashes <= 16 && 2 * hashes <= bits && cohorts >= 1 && cohorts <= 65536;
  need(fits, "a filter has at most 2^16 bits and cohorts, and 1 to 16 hashes, at most half as many as bits");
  const noise = halves(flip);
  const differ = BigInt(2 * hashes); // two filters differ in no more bits
  return {
    ratio: [(UNIT - flip) ** differ, flip ** differ],
    width: 2 + Math.ceil(bits / 8),
    permanent(index: number, random) {
      const cohort = random.integer(cohorts);
      const words = wordsOf(index, 32);
      const set = new Set(
        Array.from({ length: hashes }, (_, i) => multiplyHigh(xxh32(words, cohort * hashes + i), bits)),
      );
      return joined(
        little(cohort, 2),
        row(bits, (place) => set.has(place) !== random.bernoulli(noise)),
      );
    },
  };
});
