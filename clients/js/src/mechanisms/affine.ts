// Affine response: hash the value by a random affine map over GF(2), then randomise the bucket.
// Source: docs/affine-response.md.

import { concatenate, littleEndian } from "../bytes.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { affineHash, bitLength, masks, permute, wordsOf } from "../maths/hashing.js";
import type { Whole } from "../wire/fields.js";
import { list, small, threshold } from "../wire/fields.js";
import type { Randomizer } from "./base.js";
import { mechanismReader } from "./base.js";
import { respond, responseRatio } from "./grr.js";

const MAX_RANK = 16;
export const SHAPE = { buckets: small, groups: list(small), keep: threshold };

export const read = mechanismReader("affine", [3, 1n << 63n], SHAPE, (settings) => {
  const { size, groups } = settings;
  const bits = bitLength(BigInt(size) - 1n);
  const sum = groups.reduce((total, width) => total + width, 0);
  need(
    groups.every((width) => width > 0),
    "`groups` must be above 0",
  );
  need(!groups.length || sum === bits, `\`groups\` must sum to ${bits} bits`);
  return affineResponse(settings, (index) => permute(index, bits, groups));
});

interface Settings {
  readonly size: Whole;
  readonly buckets: number;
  readonly groups: readonly number[];
  readonly keep: bigint;
}

/** Randomises the bucket of `pointOf(index)`. */
export function affineResponse(
  { size, buckets, groups, keep }: Settings,
  pointOf: (index: Whole) => Whole,
): Randomizer {
  const bits = bitLength(BigInt(size) - 1n);
  const rank = Math.log2(buckets);
  need(Number.isInteger(rank) && rank > 0, "`buckets` must be a power of two");
  need(rank < bits && rank <= MAX_RANK, "`buckets` must be below `size` and at most 65536");
  const keepWords = thresholdWords(keep);
  return {
    worstRatio: responseRatio(keep, buckets), // given the seed, which does not depend on the value
    width: 10,
    share: 1 / buckets,
    overlap: (2 ** (bits - rank) - 1) / (2 ** bits - 1),
    groups,
    permanent(index: Whole, rng, draw) {
      const point = wordsOf(pointOf(index), bits);
      const low = draw === undefined ? rng.word() : Number(draw & 0xffffffffn);
      const high = draw === undefined ? rng.word() : Number(draw >> 32n);
      const bucket = affineHash(masks(low, high, bits, rank), point);
      const response = respond(bucket, buckets, keepWords, rng);
      const seed = [littleEndian(low, 4), littleEndian(high, 4)];
      return concatenate(...seed, littleEndian(response, 2));
    },
  };
}
