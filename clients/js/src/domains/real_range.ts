// What numbers and buckets share: two bounds, and where between them a number lies.
// Every step on the way to an index is computed in doubles, in the same order in every language.

import { need } from "../errors.js";
import { shortest } from "../maths/exact.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { flag, readFields, real, whole } from "../wire/fields.js";
import type { Domain } from "./base.js";
import { refuse } from "./base.js";

/** Returns the index of a number at a position in [0, 1]. */
type IndexAt = (position: number, size: number) => number;

/** Returns the domain in a document whose field `sizeField` says how many indices there are. */
export function readRealRange(
  document: Json,
  kind: string,
  sizeField: string,
  indexAt: IndexAt,
): Domain {
  const shape = { low: real, high: real, [sizeField]: whole, clamped: flag };
  const fields = readFields(document, kind, shape);
  const low = +fields.low!;
  const high = +fields.high!;
  const size = fields[sizeField] as Whole;
  need(low < high, "`low` must be below `high`");
  need(isFinite(high - low), "the distance from `low` to `high` must be finite");
  need(size > 1 && size <= 2 ** 32, `\`${sizeField}\` must be from 2 to 2^32`);
  const checked = (value: unknown): number => {
    let number = typeof value === "number" ? value : NaN;
    if (fields.clamped) number = Math.min(Math.max(number, low), high);
    return number >= low && number <= high ? number : refuse(`a number from ${low} to ${high}`);
  };
  return {
    facts: { kind, low: { decimal: fields.low! }, high: { decimal: fields.high! }, count: size },
    size,
    index: (value) => indexAt((checked(value) - low) / (high - low), Number(size)),
    publicJson: (value) => `"${shortest(checked(value))}"`,
    valueAt: (index) => low + ((high - low) * Number(index)) / Number(size),
  };
}
