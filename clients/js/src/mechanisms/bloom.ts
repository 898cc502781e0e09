// RAPPOR with Bloom filters: hash the value to a few bits of a short vector, then flip every bit
// with the same probability.  With a second round, every report of remembered bits randomises them
// again.
// Source: Erlingsson 2014.

import { concatenate, littleEndian } from "../bytes.js";
import { packBits } from "../core/packing.js";
import { multiplyHigh, thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { wordsOf, xxh32 } from "../maths/hashing.js";
import { small, threshold } from "../wire/fields.js";
import type { Randomizer } from "./base.js";
import { mechanismReader } from "./base.js";
import { secondRound } from "./second_round.js";

const SECOND = { second_keep: threshold, second_flip: threshold };
const SHAPE = { bits: small, hashes: small, cohorts: small, flip: threshold, ...SECOND };

export const read = mechanismReader(
  "bloom",
  [2, 2 ** 20],
  SHAPE,
  (settings) => {
    const { bits, hashes, cohorts, flip } = settings;
    need(bits <= 65536, "`bits` must be at most 65536");
    need(hashes >= 1 && hashes <= 16, "`hashes` must be from 1 to 16");
    need(2 * hashes <= bits, "`hashes` must be at most half of `bits`");
    need(cohorts >= 1 && cohorts <= 65536, "`cohorts` must be from 1 to 65536");
    const flipWords = thresholdWords(flip);
    const differing = BigInt(2 * hashes); // two filters differ in at most so many bits
    const permanent: Randomizer = {
      worstRatio: [(UNIT - flip) ** differing, flip ** differing],
      width: 2 + Math.ceil(bits / 8),
      permanent(index: number, rng, draw) {
        const cohort = draw === undefined ? rng.integer(cohorts) : Number(draw % BigInt(cohorts));
        const words = wordsOf(index, 32);
        const bitOf = (hash: number): number =>
          multiplyHigh(xxh32(words, cohort * hashes + hash), bits);
        const filter = new Set(Array.from({ length: hashes }, (_, hash) => bitOf(hash)));
        const row = packBits(bits, (i) => filter.has(i) !== rng.bernoulli(flipWords));
        return concatenate(littleEndian(cohort, 2), row);
      },
    };
    if (!Object.keys(SECOND).some((name) => name in settings)) return permanent;
    const second = secondRound(settings.second_keep, settings.second_flip);
    const [p, q] = [second.chance(UNIT - flip), second.chance(flip)];
    return {
      ...permanent,
      epsilonOnce: hashes * Math.log((p * (1 - q)) / (q * (1 - p))),
      instantaneous: (packed, rng) =>
        concatenate(packed.slice(0, 2), second.sent(packed.slice(2), bits, rng)),
    };
  },
  Object.keys(SECOND),
);
