// Square wave: a random bucket, more likely within `reach` of the value's own.

import { need } from "../errors.js";
import { exp, PLACES } from "../maths/exact.js";
import { small, threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { windowMechanism } from "./window.js";

const SHAPE = { keep: threshold, reach: small };

export const read = mechanismReader("square_wave", [2, 4096], SHAPE, (settings) => {
  const { epsilon, size, keep, reach } = settings;
  need(reach >= 0 && 2 * reach <= size, "`reach` must be from 0 to half of `size`");
  need(reach > 0 || isBestReachZero(size, epsilon), "`reach` may be 0 only where that is the best");
  return windowMechanism({ size, cells: size + 2 * reach, window: 2 * reach + 1, keep });
});

/** Returns whether size (e E - e + 1) / (2 e (e - 1 - E)), the best reach, is below 1; e = e^E. */
function isBestReachZero(size: number, epsilon: string): boolean {
  const [e, E] = exp(epsilon); // in units of 2^-PLACES
  const one = 1n << PLACES;
  return BigInt(size) * (e * E - (e - one) * one) < 2n * e * (e - one - E);
}
