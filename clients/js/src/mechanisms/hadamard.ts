// Hadamard response: a random column of the Hadamard matrix that is positive in the row of the
// value with probability `keep`.

import { littleEndian } from "../bytes.js";
import { unsignedWidth } from "../core/packing.js";
import { thresholdWords } from "../core/rng.js";
import { affineHash, bitLength } from "../maths/hashing.js";
import { threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { responseRatio } from "./grr.js";

const SHAPE = { keep: threshold };

export const read = mechanismReader("hadamard", [2, 2 ** 26 - 1], SHAPE, ({ size, keep }) => {
  const columns = 2 ** bitLength(size); // the smallest power of two above the size
  const keepWords = thresholdWords(keep);
  const width = unsignedWidth(columns);
  return {
    worstRatio: responseRatio(keep, 2),
    width,
    share: 0.5,
    overlap: 0.5,
    permanent(index: number, rng) {
      const row = index + 1;
      const positive = rng.bernoulli(keepWords);
      const column = rng.integer(columns);
      // Flipping the lowest bit of the row flips the sign: a bijection between the two halves.
      const opposite = column ^ (row & -row);
      const isPositive = !affineHash([Uint32Array.of(row)], Uint32Array.of(column));
      return littleEndian(isPositive === positive ? column : opposite, width);
    },
  };
});
