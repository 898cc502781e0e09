const LISTED_FACTORIALS = 16;
const CONVERGED = 1e-15;
const MAX_TERMS = 1_000_000;
const FAR = 14;
const FEW = 100;
export function probability(count, trials, chance) {
    return probabilityOf(count, trials, chance, 1 - chance);
}
export function atLeast(count, trials, chance) {
    return atLeastOf(count, trials, chance, 1 - chance);
}
export function fewerThan(count, trials, chance) {
    return atLeastOf(trials - count + 1, trials, 1 - chance, chance);
}
export function between(low, high, trials, chance) {
    if (low > trials * chance)
        return Math.max(0, atLeast(low, trials, chance) - atLeast(high, trials, chance));
    return Math.max(0, fewerThan(high, trials, chance) - fewerThan(low, trials, chance));
}
export function lowerQuantile(tail, trials, chance) {
    let [low, high] = around(trials, chance);
    if (tail >= 0.5 || fewerThan(low, trials, chance) > tail)
        [low, high] = [0, trials];
    while (low < high) {
        const middle = Math.floor((low + high + 1) / 2);
        if (fewerThan(middle, trials, chance) <= tail)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
export function upperQuantile(tail, trials, chance) {
    const failures = around(trials, 1 - chance);
    let low = trials - failures[1];
    let high = trials - failures[0];
    if (tail >= 0.5 || atLeast(high + 1, trials, chance) > tail)
        [low, high] = [0, trials];
    while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if (atLeast(middle + 1, trials, chance) <= tail)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
function around(trials, chance) {
    const mean = trials * chance;
    const deviation = Math.sqrt(mean * (1 - chance));
    const low = Math.max(0, Math.floor(mean - FAR * deviation) - FEW);
    return [low, Math.min(trials, Math.ceil(mean) + 1)];
}
export function fairExcess(trials, distance) {
    const first = Math.ceil(trials / 2 + distance);
    if (first > trials || trials === 0)
        return 0;
    const start = probability(first, trials, 0.5);
    const tail = start * 0.5 * fraction(first, trials, 0.5, 0.5);
    return Math.max(0, (first / 2) * start - distance * tail);
}
function atLeastOf(count, trials, chance, complement) {
    if (count <= 0)
        return 1;
    if (count > trials)
        return 0;
    if (count <= trials * chance)
        return 1 - tailOf(trials - count + 1, trials, complement, chance);
    return tailOf(count, trials, chance, complement);
}
function tailOf(count, trials, chance, complement) {
    const start = probabilityOf(count, trials, chance, complement);
    return start === 0 ? 0 : start * complement * fraction(count, trials, chance, complement);
}
function probabilityOf(count, trials, chance, complement) {
    if (!(count >= 0 && count <= trials))
        return 0;
    if (complement === 0)
        return count === trials ? 1 : 0;
    if (chance === 0)
        return count === 0 ? 1 : 0;
    const failures = trials - count;
    if (count === 0)
        return Math.exp(trials * logarithm(complement, chance));
    if (failures === 0)
        return Math.exp(trials * logarithm(chance, complement));
    const difference = complement < chance ? trials * complement - failures : count - trials * chance;
    const exponent = stirlingError(trials) -
        stirlingError(count) -
        stirlingError(failures) -
        deviance(count, trials * chance, difference) -
        deviance(failures, trials * complement, -difference);
    return Math.exp(exponent) * Math.sqrt(trials / (2 * Math.PI * count * failures));
}
function logarithm(chance, complement) {
    return complement < 0.5 ? Math.log1p(-complement) : Math.log(chance);
}
function fraction(count, trials, chance, complement) {
    const a = count;
    const b = trials - count + 1;
    const c = (a > b ? (a + b) * complement - b : a - (a + b) * chance) + 1;
    const c0 = b / a;
    const c1 = 1 + 1 / a;
    let previous = 1;
    let step = a + 1;
    let numerators = [0, 1];
    let denominators = [1, c / c1];
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
        if (Math.abs(ratio - lastRatio) <= CONVERGED * ratio)
            break;
        numerators = [numerators[1] / denominator, ratio];
        denominators = [denominators[1] / denominator, 1];
    }
    return a * ratio;
}
function stirlingError(count) {
    if (count < LISTED_FACTORIALS)
        return LISTED_ERRORS[count];
    const square = 1 / (count * count);
    const series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)));
    return series / count;
}
const LISTED_ERRORS = Array.from({ length: LISTED_FACTORIALS }, (_, count) => {
    if (count === 0)
        return 0;
    let factorial = 1;
    for (let factor = 2; factor <= count; factor++)
        factorial *= factor;
    const stirling = 0.5 * Math.log(2 * Math.PI * count) + count * Math.log(count) - count;
    return Math.log(factorial) - stirling;
});
function deviance(count, mean, difference) {
    if (Math.abs(difference) >= 0.1 * (count + mean))
        return count * Math.log(count / mean) - difference;
    const ratio = difference / (count + mean);
    let total = difference * ratio;
    let term = 2 * count * ratio;
    const square = ratio * ratio;
    for (let odd = 3; odd < 1000; odd += 2) {
        term *= square;
        const following = total + term / odd;
        if (following === total)
            break;
        total = following;
    }
    return total;
}
