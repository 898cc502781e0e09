// Dates: years, months, days, hours or minutes from `first` to `last`, both included. The text of
// the bounds says which; what a value says beyond that is left out. There are no time zones.

import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields, text } from "../wire/fields.js";
import type { Domain } from "./base.js";
import { refuse } from "./base.js";

const DAY = "([1-9]\\d{3})(?:-(\\d\\d)(?:-(\\d\\d)";
const TIME = "(?:[T ]([01]\\d|2[0-3])(?::([0-5]\\d)(?::[0-5]\\d(?:\\.\\d{1,9})?)?)?)?";
const TEXT = new RegExp(`^${DAY}${TIME})?)?$`);
const BOUND_RULE = "must be a date such as '2024', '2024-05', '2024-05-17' or '2024-05-17T09:30'";
const UNITS: Readonly<Record<number, string>> = {
  4: "year",
  7: "month",
  10: "day",
  13: "hour",
  16: "minute",
};
const MAX_SIZE = 2 ** 24;

export function read(document: Json): Domain {
  const { first, last } = readFields(document, "dates", { first: text, last: text });
  const unit = UNITS[first.length];
  const low = position(first, first.length);
  const high = position(last, first.length);
  need(low !== undefined && !first.includes(" ") && unit, `\`first\` ${BOUND_RULE}`);
  need(high !== undefined && !last.includes(" ") && UNITS[last.length], `\`last\` ${BOUND_RULE}`);
  need(first.length === last.length, "`first` and `last` must be of the same unit");
  need(low < high && high - low < MAX_SIZE, `\`last\` must be 1 to 2^24 - 1 units after \`first\``);
  const index = (value: unknown): Whole => {
    const found = typeof value === "string" ? position(value, first.length) : undefined;
    if (found === undefined || found < low || found > high)
      refuse(`a ${unit} from ${first} to ${last}, written like these`);
    return found - low;
  };
  const valueAt = (index: Whole): string => textAt(low + Number(index), first.length);
  return {
    facts: { kind: "dates", unit, first, last },
    size: high - low + 1,
    index,
    publicJson: (value) => JSON.stringify(valueAt(index(value))),
    valueAt,
  };
}

/** Returns how many units of a text of this length lie before a date; nothing if it is none. */
function position(date: string, length: number): number | undefined {
  const parts = TEXT.exec(date);
  if (!parts || date.length < length) return undefined;
  const [year, month = 1, day = 1, hour = 0, minute = 0] = parts
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part))) as [number, ...number[]];
  const time = Date.UTC(year, month - 1, day, hour, minute);
  const known = new Date(time);
  if (known.getUTCMonth() !== month - 1 || known.getUTCDate() !== day) return undefined;
  if (length === 4) return year;
  if (length === 7) return year * 12 + month - 1;
  return Math.floor(time / unitLength(length));
}

/** Returns the date with so many units before it. */
function textAt(position: number, length: number): string {
  const time =
    length === 4
      ? Date.UTC(position, 0)
      : length === 7
        ? Date.UTC(Math.floor(position / 12), position % 12)
        : position * unitLength(length);
  return new Date(time).toISOString().slice(0, length);
}

/** Returns the milliseconds of a day, an hour or a minute, by the length of their texts. */
function unitLength(length: number): number {
  return { 10: 86_400_000, 13: 3_600_000 }[length] ?? 60_000;
}
