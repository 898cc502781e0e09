import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { fields, small } from "../wire/fields.js";
export const SHAPE = { bits: small, start: small, length: small };
export function segment(content) {
    const piece = checked(fields(content, "segment", SHAPE));
    return {
        outputs: (domain) => narrow(outcomes(piece, domain)),
        encode: (index) => narrow(cut(piece, index)),
    };
}
export function checked(piece) {
    const { bits, start, length } = piece;
    const inside = start >= 0 && length > 0 && start + length <= bits;
    need(inside, "a segment begins within a value, has at least one bit and ends within it");
    return piece;
}
export function outcomes({ bits, length }, domain) {
    need(domain.bits === bits, "this question asks for a piece of a value of another length than the domain has");
    return 1n << BigInt(length);
}
export function cut({ bits, start, length }, index) {
    return BigInt.asUintN(length, BigInt(index) >> BigInt(bits - start - length));
}
