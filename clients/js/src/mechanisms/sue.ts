// Symmetric unary encoding.  With a second round, every report of a remembered row of bits
// randomises the row again, as RAPPOR does.
// Source: Erlingsson 2014.

import { packBits } from "../core/packing.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { SHAPE, SIZES, unary } from "./unary.js";

const OWN_SHAPE = { ...SHAPE, second_keep: threshold, second_flip: threshold };

export const read = mechanismReader("sue", SIZES, OWN_SHAPE, (settings) => {
  const { size, keep, flip, second_keep: secondKeep, second_flip: secondFlip } = settings;
  const permanent = unary(size, keep, flip);
  if (!secondKeep && !secondFlip) return permanent;
  need(secondFlip > 0n, "`second_flip` must be above 0");
  need(secondKeep > secondFlip, "`second_keep` must be above `second_flip`");
  const setWords = thresholdWords(secondKeep);
  const unsetWords = thresholdWords(secondFlip);
  // The chance that both rounds together set a bit that the first sets with this chance.
  const chance = (first: bigint): number =>
    Number(first * secondKeep + (UNIT - first) * secondFlip) / 2 ** 128;
  const [p, q] = [chance(keep), chance(flip)];
  const isSet = (packed: Uint8Array, i: number): number => (packed[i >> 3]! >> (i & 7)) & 1;
  return {
    ...permanent,
    share: q,
    overlap: q,
    epsilonOnce: Math.log((p * (1 - q)) / (q * (1 - p))),
    instantaneous: (packed, rng) =>
      packBits(size, (i) => rng.bernoulli(isSet(packed, i) ? setWords : unsetWords)),
  };
});
