import { need } from "../errors.js";
import { readFields, small } from "../wire/fields.js";
import { narrow, refuse } from "./base.js";
const MAX_BITS = 480;
export function read(document) {
    const { bits } = readFields(document, "bits", { bits: small });
    need(bits >= 2 && bits <= MAX_BITS, `\`bits\` must be from 2 to ${MAX_BITS}`);
    return {
        ...bitString(bits),
        facts: { kind: "bits", bits },
        index(value) {
            const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
            const number = isWhole ? BigInt(value) : -1n;
            const fits = number >= 0n && number >> BigInt(bits) === 0n;
            return fits ? narrow(number) : refuse(`a whole number below 2^${bits}`);
        },
    };
}
export function bitString(bits) {
    const randomIndex = (rng) => {
        const bytes = rng.bytes(Math.ceil(bits / 8)).reverse();
        return narrow(BigInt.asUintN(bits, bigEndian(bytes)));
    };
    return { size: narrow(1n << BigInt(bits)), bits, randomIndex };
}
export function bigEndian(bytes) {
    let number = 0n;
    for (const byte of bytes)
        number = (number << 8n) | BigInt(byte);
    return number;
}
