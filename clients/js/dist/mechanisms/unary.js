import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { real, threshold } from "../wire/fields.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
const SIZES = [2, 2 ** 20];
const THRESHOLDS = { keep: threshold, flip: threshold };
const SECOND = { ...THRESHOLDS, second_keep: threshold, second_flip: threshold };
export const oue = kind("oue", SIZES, THRESHOLDS, ({ size, keep, flip }) => unary(size, keep, flip));
export const the = kind("the", SIZES, { ...THRESHOLDS, theta: real }, ({ size, keep, flip, theta }) => {
    need(+theta > 0 && +theta <= 1, "theta lies above 0 and is at most 1");
    return unary(size, keep, flip);
});
export const sue = kind("sue", SIZES, SECOND, ({ size, keep, flip, second_keep, second_flip }) => {
    const alone = !second_keep && !second_flip;
    need(alone || ordered(second_flip, second_keep), "an instantaneous round sets a permanent 1 more often than a 0");
    const made = unary(size, keep, flip);
    if (alone)
        return made;
    const [one, zero] = [halves(second_keep), halves(second_flip)];
    const chance = (first) => Number(first * second_keep + (UNIT - first) * second_flip) / 2 ** 128;
    const [p, q] = [chance(keep), chance(flip)];
    return {
        ...made,
        once: Math.log((p * (1 - q)) / (q * (1 - p))),
        instantaneous: (packed, random) => bits(size, (i) => random.bernoulli((packed[i >> 3] >> (i & 7)) & 1 ? one : zero)),
    };
});
export function bits(size, bit) {
    const packed = new Uint8Array(Math.ceil(size / 8));
    for (let i = 0; i < size; i++)
        packed[i >> 3] |= +bit(i) << (i & 7);
    return packed;
}
function unary(size, keep, flip) {
    need(ordered(flip, keep), "a held bit must be set more often than another one, and neither always nor never");
    const [held, other] = [halves(keep), halves(flip)];
    return {
        ratio: [keep * (UNIT - flip), flip * (UNIT - keep)],
        width: Math.ceil(size / 8),
        permanent(index, random) {
            const row = bits(size, () => random.bernoulli(other));
            const [place, bit] = [index >> 3, index & 7];
            row[place] = (row[place] & ~(1 << bit)) | (+random.bernoulli(held) << bit);
            return row;
        },
    };
}
function ordered(flip, keep) {
    return 0n < flip && flip < keep;
}
