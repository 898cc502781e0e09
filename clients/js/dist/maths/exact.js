import { need } from "../errors.js";
export const UNIT = 1n << 64n;
export const PLACES = 320n;
const DECIMALS = 324;
export function shortest(number) {
    const [digits, exponent] = number.toExponential().split("e");
    if (+exponent >= -4 && +exponent < 16)
        return Number.isInteger(number) ? number + ".0" : String(number);
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
export function stated(text) {
    const [digits, exponent = "0"] = text.split("e");
    const [integer, fraction = ""] = digits.split(".");
    return BigInt(integer + fraction) * 10n ** BigInt(DECIMALS + +exponent - fraction.length);
}
export function nearest(exact) {
    return shortest(Number(`${exact}e-${DECIMALS}`));
}
const EXPONENTIALS = new Map();
const MAX_EXPONENTIALS = 256;
export function exp(epsilon) {
    const known = EXPONENTIALS.get(epsilon);
    if (known)
        return known;
    const power = (stated(epsilon) << PLACES) / 10n ** BigInt(DECIMALS);
    let odds = 0n;
    for (let term = 1n << PLACES, n = 1n; term; term = ((term * power) >> PLACES) / n++)
        odds += term;
    if (EXPONENTIALS.size >= MAX_EXPONENTIALS)
        EXPONENTIALS.clear();
    EXPONENTIALS.set(epsilon, [odds, power]);
    return [odds, power];
}
export function isWithin([numerator, denominator], epsilon) {
    return numerator << PLACES <= denominator * exp(epsilon)[0];
}
export function checkEpsilon(epsilon) {
    need(+epsilon > 0 && +epsilon <= 20, "`epsilon` must be above 0 and at most 20");
}
