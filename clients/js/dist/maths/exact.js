import { SCALE, stated } from "./decimal.js";
import { need } from "../errors.js";
export const UNIT = 1n << 64n;
export const PLACES = 320n;
export function exp(epsilon) {
    const power = (stated(epsilon) << PLACES) / SCALE;
    let odds = 0n;
    for (let term = 1n << PLACES, n = 1n; term; term = ((term * power) >> PLACES) / n++)
        odds += term;
    return [odds, power];
}
export function within([top, bottom], epsilon) {
    return top << PLACES <= bottom * exp(epsilon)[0];
}
export function checkEpsilon(epsilon) {
    need(+epsilon > 0 && +epsilon <= 20, "epsilon must be above 0 and at most 20");
}
