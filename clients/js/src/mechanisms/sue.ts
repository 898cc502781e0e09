// Symmetric unary encoding.  With a second round, every report of a remembered row of bits
// randomises the row again, as RAPPOR does.
// Source: Erlingsson 2014.

import { threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { secondRound } from "./second_round.js";
import { SHAPE, SIZES, unary } from "./unary.js";

const OWN_SHAPE = { ...SHAPE, second_keep: threshold, second_flip: threshold };

export const read = mechanismReader("sue", SIZES, OWN_SHAPE, (settings) => {
  const { size, keep, flip, second_keep: secondKeep, second_flip: secondFlip } = settings;
  const permanent = unary(size, keep, flip);
  if (!secondKeep && !secondFlip) return permanent;
  const second = secondRound(secondKeep, secondFlip);
  const [p, q] = [second.chance(keep), second.chance(flip)];
  return {
    ...permanent,
    share: q,
    overlap: q,
    epsilonOnce: Math.log((p * (1 - q)) / (q * (1 - p))),
    instantaneous: (packed, rng) => second.sent(packed, size, rng),
  };
});
