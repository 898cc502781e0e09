import { little, unsigned } from "../bytes.js";
import { UNIT } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
export const grr = kind("grr", [2, 2 ** 32], { keep: threshold }, ({ size, keep }) => {
    const held = halves(keep);
    const width = unsigned(size);
    return {
        ratio: responseRatio(keep, size),
        width,
        permanent: (index, random) => little(respond(index, size, held, random), width),
    };
});
export function respond(index, size, keep, random) {
    const honest = random.bernoulli(keep);
    const lie = random.integer(size - 1);
    const other = lie + +(lie >= index);
    return honest ? index : other;
}
export function responseRatio(keep, size) {
    return [keep * BigInt(size - 1), UNIT - keep];
}
