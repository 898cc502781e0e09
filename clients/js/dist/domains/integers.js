import { narrow, refuse } from "./base.js";
import { need } from "../errors.js";
import { fields, whole } from "../wire/fields.js";
export function integers(content) {
    const { low, high } = fields(content, "integers", { low: whole, high: whole });
    need(low < high, "a range needs low < high");
    const find = (value) => {
        if (typeof value !== "bigint" && !Number.isSafeInteger(value))
            refuse("a whole number, or a list of them");
        const held = value;
        return held < low || held > high ? undefined : narrow(BigInt(held) - BigInt(low));
    };
    const index = (value) => find(value) ?? refuse(`a whole number from ${low} to ${high}`);
    return {
        size: narrow(BigInt(high) - BigInt(low) + 1n),
        ordered: true,
        index,
        plain: (value) => String(BigInt(low) + BigInt(index(value))),
        valueAt: (index) => BigInt(low) + BigInt(index),
        find,
    };
}
