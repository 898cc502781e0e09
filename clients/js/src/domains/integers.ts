// Whole numbers from `low` to `high`, both included.

import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
import { narrow, refuse } from "../domain.js";
import { need } from "../errors.js";
import type { Whole } from "../fields.js";
import { fields, whole } from "../fields.js";

export function integers(content: Json): Domain {
  const { low, high } = fields(content, "integers", { low: whole, high: whole });
  need(low < high, "a range needs low < high");
  return {
    size: narrow(BigInt(high) - BigInt(low) + 1n),
    ordered: true,
    index(value) {
      const fits = typeof value === "bigint" || Number.isSafeInteger(value);
      if (!fits || (value as Whole) < low || (value as Whole) > high) refuse(`a whole number from ${low} to ${high}`);
      return narrow(BigInt(value as Whole) - BigInt(low));
    },
  };
}
