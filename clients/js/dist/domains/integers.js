import { need } from "../errors.js";
import { readFields, whole } from "../wire/fields.js";
import { narrow, refuse } from "./base.js";
export function read(document) {
    const { low, high } = readFields(document, "integers", { low: whole, high: whole });
    need(low < high, "`low` must be below `high`");
    const find = (value) => {
        if (typeof value !== "bigint" && !Number.isSafeInteger(value))
            refuse("a whole number, or a list of them");
        const number = value;
        return number < low || number > high ? undefined : narrow(BigInt(number) - BigInt(low));
    };
    const index = (value) => find(value) ?? refuse(`a whole number from ${low} to ${high}`);
    const valueAt = (index) => BigInt(low) + BigInt(index);
    return {
        facts: { kind: "integers", low, high },
        size: narrow(BigInt(high) - BigInt(low) + 1n),
        index,
        publicJson: (value) => String(valueAt(index(value))),
        valueAt,
        find,
    };
}
