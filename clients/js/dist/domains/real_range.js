import { repr } from "../maths/decimal.js";
import { refuse } from "./base.js";
import { need } from "../errors.js";
import { fields, flag, real, whole } from "../wire/fields.js";
export const numbers = range("numbers", "points", (position, size) => toEven(position * (size - 1)));
export const buckets = range("buckets", "count", (position, size) => Math.min(Math.floor(position * size), size - 1));
function range(kind, many, place) {
    return (content) => {
        const read = fields(content, kind, { low: real, high: real, [many]: whole, clamped: flag });
        const [low, high, size] = [+read.low, +read.high, read[many]];
        need(low < high && isFinite(high - low) && size > 1 && size <= 2 ** 32, "a range of numbers needs finite low < high and from 2 to 2^32 points or buckets");
        const inside = (value) => {
            const held = read.clamped && typeof value === "number" ? Math.min(Math.max(value, low), high) : value;
            return typeof held === "number" && held >= low && held <= high ? held : refuse(`a number from ${low} to ${high}`);
        };
        return {
            size,
            ordered: true,
            index: (value) => place((inside(value) - low) / (high - low), Number(size)),
            plain: (value) => `"${repr(inside(value))}"`,
            valueAt: (index) => low + ((high - low) * Number(index)) / Number(size),
        };
    };
}
function toEven(number) {
    const floor = Math.floor(number);
    const rest = number - floor;
    return rest > 0.5 || (rest === 0.5 && floor % 2) ? floor + 1 : floor;
}
