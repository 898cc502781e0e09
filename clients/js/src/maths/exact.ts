// An exponential to 320 binary places: which way a threshold was rounded is decided in integers, alike everywhere.

import { SCALE, stated } from "./decimal.js";
import { need } from "../errors.js";

export const UNIT = 1n << 64n; // thresholds are probabilities in units of 2^-64
export type Ratio = readonly [top: bigint, bottom: bigint];

export const PLACES = 320n;

/** Returns the exponential of a stated decimal, and that decimal, in units of 2^-320, both rounded down. */
export function exp(epsilon: string): [odds: bigint, power: bigint] {
  const power = (stated(epsilon) << PLACES) / SCALE;
  let odds = 0n;
  for (let term = 1n << PLACES, n = 1n; term; term = ((term * power) >> PLACES) / n++) odds += term;
  return [odds, power];
}

/** Returns whether a ratio of chances is at most exp(epsilon). */
export function within([top, bottom]: Ratio, epsilon: string): boolean {
  return top << PLACES <= bottom * exp(epsilon)[0];
}

export function checkEpsilon(epsilon: string): void {
  need(+epsilon > 0 && +epsilon <= 20, "epsilon must be above 0 and at most 20");
}
