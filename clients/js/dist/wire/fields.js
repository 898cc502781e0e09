import { MAX_INTEGER_DIGITS, MAX_REAL_CHARACTERS } from "../core/bounds.js";
import { CodecError } from "../errors.js";
import { shortest } from "../maths/exact.js";
import { isDocument } from "./codec.js";
const WIDE_INTEGER = new RegExp(`^-?[1-9]\\d{15,${MAX_INTEGER_DIGITS - 1}}$`);
export function readFields(document, kind, shape, optional = []) {
    if (!isDocument(document) || document.kind !== kind)
        throw new CodecError(`\`kind\` of this document must be ${kind}`);
    const names = Object.keys(shape);
    const unknown = Object.keys(document).some((key) => key !== "kind" && !names.includes(key));
    if (unknown || !names.every((name) => name in document || optional.includes(name)))
        throw new CodecError(`the fields of a ${kind} must be ${names.join(", ")}`);
    const present = names.filter((name) => name in document);
    const entries = present.map((name) => [name, shape[name](document[name])]);
    return Object.fromEntries(entries);
}
export function kindOf(document) {
    return isDocument(document) && typeof document.kind === "string" ? document.kind : "";
}
export function lengthOf(document, field) {
    const value = isDocument(document) ? document[field] : undefined;
    return Array.isArray(value) ? value.length : 1;
}
export const flag = (value) => typeof value === "boolean" ? value : refuse("true or false");
export const text = (value) => typeof value === "string" && value.normalize("NFC") === value ? value : refuse("text in NFC");
export const small = (value) => typeof value === "number" ? value : refuse("a whole number");
export const whole = (value) => typeof value === "string" && WIDE_INTEGER.test(value) && !Number.isSafeInteger(+value)
    ? BigInt(value)
    : small(value);
export const threshold = (value) => typeof value === "string" && /^(0|[1-9]\d{0,19})$/.test(value) && BigInt(value) < 1n << 64n
    ? BigInt(value)
    : refuse("a whole number from 0 to 2^64 - 1 in quotes");
export const real = (value) => typeof value === "string" &&
    value.length <= MAX_REAL_CHARACTERS &&
    isFinite(+value) &&
    shortest(+value) === value
    ? value
    : refuse("a decimal in quotes, in its shortest form");
export const list = (read) => (value) => Array.isArray(value) ? value.map((entry) => read(entry)) : refuse("a list");
export const object = (value) => (isDocument(value) ? value : refuse("an object"));
function refuse(expected) {
    throw new CodecError(`a field of this document must be ${expected}`);
}
