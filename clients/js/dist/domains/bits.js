import { narrow, refuse } from "./base.js";
import { need } from "../errors.js";
import { fields, small } from "../wire/fields.js";
const LONGEST = 480;
export function bits(content) {
    const { bits } = fields(content, "bits", { bits: small });
    need(bits >= 2 && bits <= LONGEST, `a value has from 2 to ${LONGEST} bits`);
    return {
        ...long(bits),
        index(value) {
            const held = typeof value === "bigint" || Number.isSafeInteger(value) ? BigInt(value) : -1n;
            return held >= 0n && held >> BigInt(bits) === 0n ? narrow(held) : refuse(`a whole number below 2^${bits}`);
        },
    };
}
export function long(bits) {
    return {
        size: narrow(1n << BigInt(bits)),
        bits,
        anything: (random) => narrow(BigInt.asUintN(bits, number(random.bytes(Math.ceil(bits / 8)).reverse()))),
    };
}
export function number(bytes) {
    return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
