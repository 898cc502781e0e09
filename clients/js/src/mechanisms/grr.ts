// Generalised randomised response: tell the truth, or a uniformly chosen lie.

import { little, unsigned } from "../bytes.js";
import type { Ratio } from "../maths/exact.js";
import { UNIT } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
import { kind } from "./base.js";
import type { Halves, Random } from "../core/rng.js";
import { halves } from "../core/rng.js";

export const grr = kind("grr", [2, 2 ** 32], { keep: threshold }, ({ size, keep }) => {
  const held = halves(keep);
  const width = unsigned(size);
  return {
    ratio: responseRatio(keep, size),
    width,
    permanent: (index: number, random) => little(respond(index, size, held, random), width),
  };
});

/** Returns the index, or any other one below `size`. */
export function respond(index: number, size: number, keep: Halves, random: Random): number {
  const honest = random.bernoulli(keep);
  const lie = random.integer(size - 1);
  const other = lie + +(lie >= index); // step over the truth: uniform over the other values
  return honest ? index : other;
}

export function responseRatio(keep: bigint, size: number): Ratio {
  return [keep * BigInt(size - 1), UNIT - keep];
}
