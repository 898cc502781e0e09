import { littleEndian } from "../bytes.js";
import { unsignedWidth } from "../core/packing.js";
import { thresholdWords } from "../core/rng.js";
import { UNIT } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
const SHAPE = { keep: threshold };
export const read = mechanismReader("grr", [2, 2 ** 32], SHAPE, ({ size, keep }) => {
    const keepWords = thresholdWords(keep);
    const width = unsignedWidth(size);
    return {
        worstRatio: responseRatio(keep, size),
        width,
        share: 1 / size,
        permanent: (index, rng) => littleEndian(respond(index, size, keepWords, rng), width),
    };
});
export function respond(index, size, keep, rng) {
    const honest = rng.bernoulli(keep);
    const drawn = rng.integer(size - 1);
    const other = drawn >= index ? drawn + 1 : drawn;
    return honest ? index : other;
}
export function responseRatio(keep, size) {
    return [keep * BigInt(size - 1), UNIT - keep];
}
