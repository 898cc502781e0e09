// Optimised local hashing: a public seed maps the domain to a few buckets, and the bucket of the
// value is randomised.
// Source: Wang 2021, section 3.3.3.

import { concatenate, littleEndian } from "../bytes.js";
import type { Rng } from "../core/rng.js";
import { multiplyHigh, thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { bitLength, wordsOf, xxh32 } from "../maths/hashing.js";
import type { Whole } from "../wire/fields.js";
import { small, threshold } from "../wire/fields.js";
import type { Randomizer } from "./base.js";
import { mechanismReader } from "./base.js";
import { respond, responseRatio } from "./grr.js";

export const SIZES = [2, 1n << 63n] as const;
const SHAPE = { buckets: small, keep: threshold };

export const read = mechanismReader("olh", SIZES, SHAPE, ({ size, buckets, keep }) => {
  need(buckets >= 2 && buckets <= 2 ** 20, "`buckets` must be from 2 to 2^20");
  return localHashing({ size, buckets, keep, width: buckets > 65536 ? 4 : 2 });
});

interface Settings {
  readonly size: Whole;
  readonly buckets: number;
  readonly keep: bigint;
  /** The bytes of a packed bucket. */
  readonly width: number;
  readonly drawSeed?: (rng: Rng) => number;
  /** How many seeds there are (default: 2^32). */
  readonly seedCount?: Whole;
}

export function localHashing(settings: Settings): Randomizer {
  const { size, buckets, keep, width, drawSeed = (rng) => rng.word() } = settings;
  const seedCount = BigInt(settings.seedCount ?? 2 ** 32);
  const drawsAnySeed = settings.drawSeed === undefined;
  const keepWords = thresholdWords(keep);
  const bits = bitLength(BigInt(size) - 1n);
  return {
    worstRatio: responseRatio(keep, buckets), // given the seed, which does not depend on the value
    width: 4 + width,
    share: 1 / buckets,
    overlap: drawsAnySeed ? 1 / buckets : 0, // a small pool may never join two values
    permanent(index: Whole, rng, draw) {
      const seed = draw === undefined ? drawSeed(rng) : Number(draw % seedCount);
      const bucket = multiplyHigh(xxh32(wordsOf(index, bits), seed), buckets);
      const response = respond(bucket, buckets, keepWords, rng);
      return concatenate(littleEndian(seed, 4), littleEndian(response, width));
    },
  };
}
