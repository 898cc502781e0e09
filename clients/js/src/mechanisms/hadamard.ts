// Hadamard response: a column of the Hadamard matrix in which the value's row is more likely positive than not.

import { little, unsigned } from "../bytes.js";
import { threshold } from "../wire/fields.js";
import { affineHash, bitLength } from "../maths/hashing.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
import { responseRatio } from "./grr.js";

export const hadamard = kind("hadamard", [2, 2 ** 26 - 1], { keep: threshold }, ({ size, keep }) => {
  const columns = 2 ** bitLength(size); // the smallest power of two above the domain
  const held = halves(keep);
  const width = unsigned(columns);
  return {
    ratio: responseRatio(keep, 2),
    width,
    permanent(index: number, random) {
      const owned = index + 1;
      const positive = random.bernoulli(held);
      const column = random.integer(columns);
      const partner = column ^ (owned & -owned); // flips the sign: a bijection between the two halves
      const agrees = !affineHash([Uint32Array.of(owned)], Uint32Array.of(column)) === positive;
      return little(agrees ? column : partner, width);
    },
  };
});
