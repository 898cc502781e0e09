// Binomial probabilities in doubles, with a relative error below 1e-12: the saddle-point form of
// Loader for one outcome, and the continued fraction of Didonato and Morris for a tail.
// The twin of maths/binomial.py, which explains the formulas.

const LISTED_FACTORIALS = 16; // factorials below 2^53 are exact; beyond, Stirling's series is
const CONVERGED = 1e-15;
const MAX_TERMS = 1_000_000;
const FAR = 14; // standard deviations from the mean, beyond which few quantiles lie
const FEW = 100;

/** Returns the probability of exactly this many successes. */
export function probability(count: number, trials: number, chance: number): number {
  return probabilityOf(count, trials, chance, 1 - chance);
}

/** Returns the probability of this many successes or more. */
export function atLeast(count: number, trials: number, chance: number): number {
  return atLeastOf(count, trials, chance, 1 - chance);
}

/** Returns the probability of fewer successes than this. */
export function fewerThan(count: number, trials: number, chance: number): number {
  return atLeastOf(trials - count + 1, trials, 1 - chance, chance);
}

/** Returns the probability of at least `low` and fewer than `high` successes. */
export function between(low: number, high: number, trials: number, chance: number): number {
  if (low > trials * chance)
    return Math.max(0, atLeast(low, trials, chance) - atLeast(high, trials, chance));
  return Math.max(0, fewerThan(high, trials, chance) - fewerThan(low, trials, chance));
}

/** Returns the largest count such that fewer successes have at most the probability `tail`. */
export function lowerQuantile(tail: number, trials: number, chance: number): number {
  let [low, high] = around(trials, chance);
  if (tail >= 0.5 || fewerThan(low, trials, chance) > tail) [low, high] = [0, trials];
  while (low < high) {
    const middle = Math.floor((low + high + 1) / 2);
    if (fewerThan(middle, trials, chance) <= tail) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the smallest count such that more successes have at most the probability `tail`. */
export function upperQuantile(tail: number, trials: number, chance: number): number {
  const failures = around(trials, 1 - chance);
  let low = trials - failures[1];
  let high = trials - failures[0];
  if (tail >= 0.5 || atLeast(high + 1, trials, chance) > tail) [low, high] = [0, trials];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (atLeast(middle + 1, trials, chance) <= tail) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns counts between which every lower quantile below 1/2 lies that is not extremely low. */
function around(trials: number, chance: number): [low: number, high: number] {
  const mean = trials * chance;
  const deviation = Math.sqrt(mean * (1 - chance));
  const low = Math.max(0, Math.floor(mean - FAR * deviation) - FEW);
  return [low, Math.min(trials, Math.ceil(mean) + 1)];
}

/** Returns E[(X - trials / 2 - distance)+] of fair coins, for a distance of at least 0. */
export function fairExcess(trials: number, distance: number): number {
  const first = Math.ceil(trials / 2 + distance);
  if (first > trials || trials === 0) return 0;
  const start = probability(first, trials, 0.5);
  const tail = start * 0.5 * fraction(first, trials, 0.5, 0.5);
  return Math.max(0, (first / 2) * start - distance * tail);
}

// Below, a chance comes with its complement, so that neither is computed from a rounded other.

function atLeastOf(count: number, trials: number, chance: number, complement: number): number {
  if (count <= 0) return 1;
  if (count > trials) return 0;
  if (count <= trials * chance) return 1 - tailOf(trials - count + 1, trials, complement, chance);
  return tailOf(count, trials, chance, complement);
}

/** Returns the probability of this many successes or more, for a count above the mean. */
function tailOf(count: number, trials: number, chance: number, complement: number): number {
  const start = probabilityOf(count, trials, chance, complement);
  return start === 0 ? 0 : start * complement * fraction(count, trials, chance, complement);
}

function probabilityOf(count: number, trials: number, chance: number, complement: number): number {
  if (!(count >= 0 && count <= trials)) return 0;
  if (complement === 0) return count === trials ? 1 : 0;
  if (chance === 0) return count === 0 ? 1 : 0;
  const failures = trials - count;
  if (count === 0) return Math.exp(trials * logarithm(complement, chance));
  if (failures === 0) return Math.exp(trials * logarithm(chance, complement));
  const difference =
    complement < chance ? trials * complement - failures : count - trials * chance;
  const exponent =
    stirlingError(trials) -
    stirlingError(count) -
    stirlingError(failures) -
    deviance(count, trials * chance, difference) -
    deviance(failures, trials * complement, -difference);
  return Math.exp(exponent) * Math.sqrt(trials / (2 * Math.PI * count * failures));
}

/** Returns the logarithm of a chance, from its complement where that is more exact. */
function logarithm(chance: number, complement: number): number {
  return complement < 0.5 ? Math.log1p(-complement) : Math.log(chance);
}

/** Returns P[X >= count] / (P[X = count] (1 - chance)) for a count above the mean. */
function fraction(count: number, trials: number, chance: number, complement: number): number {
  const a = count;
  const b = trials - count + 1;
  const c = (a > b ? (a + b) * complement - b : a - (a + b) * chance) + 1;
  const c0 = b / a;
  const c1 = 1 + 1 / a;
  let previous = 1;
  let step = a + 1;
  let numerators: [number, number] = [0, 1];
  let denominators: [number, number] = [1, c / c1];
  let ratio = c1 / c;
  for (let term = 1; term < MAX_TERMS; term++) {
    const share = term / a;
    const weight = term * (b - term) * chance;
    const scale = a / step;
    const alpha = previous * (previous + c0) * scale * scale * (weight * chance);
    const slope = ((share + 1) / (c1 + 2 * share)) * (c + term * (complement + 1));
    const beta = term + weight / step + slope;
    previous = share + 1;
    step += 2;
    const numerator = alpha * numerators[0] + beta * numerators[1];
    const denominator = alpha * denominators[0] + beta * denominators[1];
    const lastRatio = ratio;
    ratio = numerator / denominator;
    if (Math.abs(ratio - lastRatio) <= CONVERGED * ratio) break;
    numerators = [numerators[1] / denominator, ratio];
    denominators = [denominators[1] / denominator, 1];
  }
  return a * ratio;
}

/** Returns ln(n!) - ln(sqrt(2 pi n) (n / e)^n). */
function stirlingError(count: number): number {
  if (count < LISTED_FACTORIALS) return LISTED_ERRORS[count] as number;
  const square = 1 / (count * count);
  const series =
    1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)));
  return series / count;
}

const LISTED_ERRORS = Array.from({ length: LISTED_FACTORIALS }, (_, count) => {
  if (count === 0) return 0;
  let factorial = 1;
  for (let factor = 2; factor <= count; factor++) factorial *= factor;
  const stirling = 0.5 * Math.log(2 * Math.PI * count) + count * Math.log(count) - count;
  return Math.log(factorial) - stirling;
});

/** Returns x ln(x / y) + y - x, without cancellation where x is near y; `difference` is x - y. */
function deviance(count: number, mean: number, difference: number): number {
  if (Math.abs(difference) >= 0.1 * (count + mean))
    return count * Math.log(count / mean) - difference;
  const ratio = difference / (count + mean);
  let total = difference * ratio;
  let term = 2 * count * ratio;
  const square = ratio * ratio;
  for (let odd = 3; odd < 1000; odd += 2) {
    term *= square;
    const following = total + term / odd;
    if (following === total) break;
    total = following;
  }
  return total;
}
