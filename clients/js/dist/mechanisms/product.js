import { unsigned } from "../bytes.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { list, whole } from "../wire/fields.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
import { respond, responseRatio } from "./grr.js";
const SHAPE = { sizes: list(whole), keeps: list(whole) };
export const product = kind("product", [2, 1n << 62n], SHAPE, ({ size, sizes, keeps }) => {
    const bases = sizes.map(Number);
    const cells = sizes.reduce((all, one) => all * BigInt(one), 1n);
    need(sizes.length && sizes.every((one) => one >= 2 && one <= 2 ** 32) && cells === BigInt(size), "the sizes of at least one attribute, each at most 2^32, multiply to the size of the domain");
    need(keeps.length === sizes.length && keeps.every((keep) => keep > 0 && keep < UNIT), "there is one threshold from 1 to 2^64 - 1 for every attribute");
    const ratios = keeps.map((keep, i) => responseRatio(BigInt(keep), bases[i]));
    need(ratios.every(([top, bottom]) => top > bottom), "the threshold of every attribute prefers the truth");
    const held = keeps.map((keep) => halves(BigInt(keep)));
    const width = size > 2 ** 32 ? 8 : unsigned(Number(size));
    return {
        ratio: ratios.reduce(([top, bottom], one) => [top * one[0], bottom * one[1]]),
        width,
        permanent(index, random) {
            const record = digits(BigInt(index), bases);
            const said = bases.map((base, i) => respond(record[i], base, held[i], random));
            const report = said.reduce((all, one, i) => all * BigInt(bases[i]) + BigInt(one), 0n);
            return Uint8Array.from({ length: width }, (_, i) => Number((report >> BigInt(8 * i)) & 255n));
        },
    };
});
function digits(record, bases) {
    return bases.reduceRight((found, base) => {
        const digit = Number(record % BigInt(base));
        record /= BigInt(base);
        return [digit, ...found];
    }, []);
}
