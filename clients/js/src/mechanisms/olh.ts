// Local hashing: a public seed folds the domain into a few buckets, and the bucket is randomised.
// BLH has two buckets; RMP has two and draws its seed, a row of a matrix of signs, from a pool.

import { joined, little } from "../bytes.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { small, threshold, whole } from "../wire/fields.js";
import { bitLength, wordsOf, xxh32 } from "../maths/hashing.js";
import type { Randomizer } from "./base.js";
import { kind } from "./base.js";
import type { Random } from "../core/rng.js";
import { halves, multiplyHigh } from "../core/rng.js";
import { respond, responseRatio } from "./grr.js";

const SIZES = [2, 1n << 63n] as const;

export const blh = kind("blh", SIZES, { keep: threshold }, ({ size, keep }) => hashed(size, 2, keep, 2, fresh));

export const olh = kind("olh", SIZES, { buckets: small, keep: threshold }, ({ size, buckets, keep }) => {
  need(buckets >= 2 && buckets <= 2 ** 20, "local hashing needs between 2 and 2^20 buckets");
  return hashed(size, buckets, keep, buckets > 65536 ? 4 : 2, fresh);
});

export const rmp = kind("rmp", SIZES, { rows: whole, keep: threshold }, ({ size, rows, keep }) => {
  need(rows === 0 || (rows >= 8 && rows <= 2 ** 32), "a pool has between 8 and 2^32 rows, or 0 for fresh ones");
  const pooled = (random: Random) =>
    rows < 2 ** 32 ? random.integer(Number(rows)) : Number(random.wide(BigInt(rows)));
  return hashed(size, 2, keep, 1, rows ? pooled : fresh);
});

function fresh(random: Random): number {
  return random.word();
}

function hashed(
  size: Whole,
  buckets: number,
  keep: bigint,
  width: number,
  draw: (random: Random) => number,
): Randomizer {
  const held = halves(keep);
  const bits = bitLength(BigInt(size) - 1n);
  return {
    ratio: responseRatio(keep, buckets), // given any seed, which is drawn before the value is looked at
    width: 4 + width,
    permanent(index: Whole, random) {
      const seed = draw(random);
      const bucket = multiplyHigh(xxh32(wordsOf(index, bits), seed), buckets);
      return joined(little(seed, 4), little(respond(bucket, buckets, held, random), width));
    },
  };
}
