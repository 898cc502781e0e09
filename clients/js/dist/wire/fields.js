import { isContent } from "./codec.js";
import { repr } from "../maths/decimal.js";
import { CodecError } from "../errors.js";
export function fields(content, kind, shape, optional = []) {
    if (!isContent(content) || content.kind !== kind)
        throw new CodecError(`a ${kind} was expected`);
    const names = Object.keys(shape);
    const known = Object.keys(content).every((key) => key === "kind" || names.includes(key));
    if (!known || !names.every((name) => name in content || optional.includes(name))) {
        throw new CodecError(`a ${kind} has the fields ${names.join(", ")}`);
    }
    return Object.fromEntries(names.filter((name) => name in content).map((name) => [name, shape[name](content[name])]));
}
export function kindOf(content) {
    return isContent(content) && typeof content.kind === "string" ? content.kind : "";
}
export const flag = (value) => (typeof value === "boolean" ? value : refuse("true or false"));
export const text = (value) => typeof value === "string" && value.normalize("NFC") === value ? value : refuse("text in NFC");
export const small = (value) => (typeof value === "number" ? value : refuse("a whole number"));
export const whole = (value) => typeof value === "string" && /^-?[1-9]\d{15,}$/.test(value) && !Number.isSafeInteger(+value)
    ? BigInt(value)
    : small(value);
export const threshold = (value) => typeof value === "string" && /^(0|[1-9]\d{0,19})$/.test(value) && BigInt(value) < 1n << 64n
    ? BigInt(value)
    : refuse("a whole number from 0 to 2^64 - 1 in quotes");
export const real = (value) => typeof value === "string" && isFinite(+value) && repr(+value) === value
    ? value
    : refuse("a decimal in quotes, in its shortest form");
export const list = (read) => (value) => Array.isArray(value) ? value.map(read) : refuse("a list");
export const object = (value) => (isContent(value) ? value : refuse("an object"));
function refuse(expected) {
    throw new CodecError(`${expected} was expected in a document`);
}
