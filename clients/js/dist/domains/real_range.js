import { need } from "../errors.js";
import { shortest } from "../maths/exact.js";
import { flag, readFields, real, whole } from "../wire/fields.js";
import { refuse } from "./base.js";
export function readRealRange(document, kind, sizeField, indexAt) {
    const shape = { low: real, high: real, [sizeField]: whole, clamped: flag };
    const fields = readFields(document, kind, shape);
    const low = +fields.low;
    const high = +fields.high;
    const size = fields[sizeField];
    need(low < high, "`low` must be below `high`");
    need(isFinite(high - low), "the distance from `low` to `high` must be finite");
    need(size > 1 && size <= 2 ** 32, `\`${sizeField}\` must be from 2 to 2^32`);
    const checked = (value) => {
        let number = typeof value === "number" ? value : NaN;
        if (fields.clamped)
            number = Math.min(Math.max(number, low), high);
        return number >= low && number <= high ? number : refuse(`a number from ${low} to ${high}`);
    };
    return {
        facts: { kind, low: fields.low, high: fields.high, count: size },
        size,
        index: (value) => indexAt((checked(value) - low) / (high - low), Number(size)),
        publicJson: (value) => `"${shortest(checked(value))}"`,
        valueAt: (index) => low + ((high - low) * Number(index)) / Number(size),
    };
}
