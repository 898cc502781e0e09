import { narrow, refuse } from "../domain.js";
import { need } from "../errors.js";
import { fields, whole } from "../fields.js";
export function integers(content) {
    const { low, high } = fields(content, "integers", { low: whole, high: whole });
    need(low < high, "a range needs low < high");
    return {
        size: narrow(BigInt(high) - BigInt(low) + 1n),
        ordered: true,
        index(value) {
            const fits = typeof value === "bigint" || Number.isSafeInteger(value);
            if (!fits || value < low || value > high)
                refuse(`a whole number from ${low} to ${high}`);
            return narrow(BigInt(value) - BigInt(low));
        },
    };
}
