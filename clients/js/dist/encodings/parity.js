import { need } from "../errors.js";
import { fields, list, whole } from "../wire/fields.js";
import { bitLength } from "../maths/hashing.js";
import { checkAttributes, checked, held, SHAPE } from "./view.js";
export function parity(content) {
    return coefficient(fields(content, "parity", { ...SHAPE, masks: list(whole) }));
}
export function coefficient(asked) {
    const { columns, sizes, masks } = checked(asked);
    need(masks.length === columns.length && masks.every((mask, i) => mask > 0 && mask < 1n << BigInt(bitsOf(sizes[i]))), "a coefficient has one mask for every column, of its bits and not empty");
    return {
        outputs(domain) {
            checkAttributes(asked, domain);
            return 2;
        },
        encode(index) {
            const bits = columns.reduce((all, column, i) => all ^ (held(index, column) & BigInt(masks[i])), 0n);
            return bits.toString(2).replaceAll("0", "").length & 1;
        },
    };
}
export function bitsOf(size) {
    return bitLength(BigInt(size) - 1n);
}
