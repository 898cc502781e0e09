// Exact arithmetic on the decimals of documents, and an exponential to 320 binary places.
// Whether a mechanism keeps to its epsilon is decided in integers, so every platform agrees.

import { need } from "../errors.js";

export const UNIT = 1n << 64n; // thresholds are probabilities in units of 2^-64
export const PLACES = 320n;
const DECIMALS = 324; // every double that is written in its shortest form is a multiple of 10^-324

/** A fraction: the largest ratio of the chances of one report under two values. */
export type Ratio = readonly [numerator: bigint, denominator: bigint];

/** Returns the shortest text that gives the same double, written as Python writes it. */
export function shortest(number: number): string {
  const [digits, exponent] = number.toExponential().split("e") as [string, string];
  if (+exponent >= -4 && +exponent < 16)
    return Number.isInteger(number) ? number + ".0" : String(number);
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** Returns the number that a decimal text states, in units of 10^-324. */
export function stated(text: string): bigint {
  const [digits, exponent = "0"] = text.split("e") as [string, string?];
  const [integer, fraction = ""] = digits.split(".") as [string, string?];
  return BigInt(integer + fraction) * 10n ** BigInt(DECIMALS + +exponent - fraction.length);
}

/** Returns the double nearest to a number of units of 10^-324, in its shortest form. */
export function nearest(exact: bigint): string {
  return shortest(Number(`${exact}e-${DECIMALS}`));
}

type Exponential = [odds: bigint, power: bigint];
const EXPONENTIALS = new Map<string, Exponential>(); // mechanisms and questions share an epsilon
const MAX_EXPONENTIALS = 256;

/** Returns e^epsilon and epsilon, both in units of 2^-320 and rounded down. */
export function exp(epsilon: string): Exponential {
  const known = EXPONENTIALS.get(epsilon);
  if (known) return known;
  const power = (stated(epsilon) << PLACES) / 10n ** BigInt(DECIMALS);
  let odds = 0n;
  for (let term = 1n << PLACES, n = 1n; term; term = ((term * power) >> PLACES) / n++) odds += term;
  if (EXPONENTIALS.size >= MAX_EXPONENTIALS) EXPONENTIALS.clear();
  EXPONENTIALS.set(epsilon, [odds, power]);
  return [odds, power];
}

/** Returns whether a ratio is at most e^epsilon. */
export function isWithin([numerator, denominator]: Ratio, epsilon: string): boolean {
  return numerator << PLACES <= denominator * exp(epsilon)[0];
}

export function checkEpsilon(epsilon: string): void {
  need(+epsilon > 0 && +epsilon <= 20, "`epsilon` must be above 0 and at most 20");
}
