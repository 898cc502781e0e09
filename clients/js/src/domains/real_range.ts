// Real numbers from `low` to `high`: at the nearest of equally spaced points, or in buckets of equal width.
// Every step on the way to an index is a double, in this order in every language.

import type { Json } from "../wire/codec.js";
import { repr } from "../maths/decimal.js";
import type { Domain } from "./base.js";
import { refuse } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, flag, real, whole } from "../wire/fields.js";

export const numbers = range("numbers", "points", (position, size) => toEven(position * (size - 1)));

// The top of the range belongs to the last interval.
export const buckets = range("buckets", "count", (position, size) => Math.min(Math.floor(position * size), size - 1));

function range(
  kind: string,
  many: string,
  place: (position: number, size: number) => number,
): (content: Json) => Domain {
  return (content) => {
    const read = fields(content, kind, { low: real, high: real, [many]: whole, clamped: flag });
    const [low, high, size] = [+read.low!, +read.high!, read[many] as Whole];
    need(
      low < high && isFinite(high - low) && size > 1 && size <= 2 ** 32,
      "a range of numbers needs finite low < high and from 2 to 2^32 points or buckets",
    );
    const inside = (value: unknown): number => {
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

/** Rounds to the nearest whole number, halves to the even one. */
function toEven(number: number): number {
  const floor = Math.floor(number);
  const rest = number - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2) ? floor + 1 : floor;
}
