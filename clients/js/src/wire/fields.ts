// Entries of documents, read strictly: what would be written differently is refused.

import type { Content, Json } from "./codec.js";
import { isContent } from "./codec.js";
import { repr } from "../maths/decimal.js";
import { CodecError } from "../errors.js";

/** A whole number: from 2^53 on a bigint, which travels as text. */
export type Whole = number | bigint;
export type Read<T> = (value: Json) => T;
export type Shape = Record<string, Read<any>>;
export type Fields<S extends Shape> = { [K in keyof S]: ReturnType<S[K]> };

/** Returns the entries of a document of this kind, which has all of them and no others. */
export function fields<S extends Shape>(content: Json, kind: string, shape: S, optional: string[] = []): Fields<S> {
  if (!isContent(content) || content.kind !== kind) throw new CodecError(`a ${kind} was expected`);
  const names = Object.keys(shape);
  const known = Object.keys(content).every((key) => key === "kind" || names.includes(key));
  if (!known || !names.every((name) => name in content || optional.includes(name))) {
    throw new CodecError(`a ${kind} has the fields ${names.join(", ")}`);
  }
  return Object.fromEntries(
    names.filter((name) => name in content).map((name) => [name, shape[name]!(content[name]!)]),
  ) as Fields<S>;
}

/** Returns which of several kinds a document is, or nothing. */
export function kindOf(content: Json): string {
  return isContent(content) && typeof content.kind === "string" ? content.kind : "";
}

export const flag: Read<boolean> = (value) => (typeof value === "boolean" ? value : refuse("true or false"));

export const text: Read<string> = (value) =>
  typeof value === "string" && value.normalize("NFC") === value ? value : refuse("text in NFC");

export const small: Read<number> = (value) => (typeof value === "number" ? value : refuse("a whole number"));

export const whole: Read<Whole> = (value) =>
  typeof value === "string" && /^-?[1-9]\d{15,}$/.test(value) && !Number.isSafeInteger(+value)
    ? BigInt(value)
    : small(value);

/** A probability in units of 2^-64. */
export const threshold: Read<bigint> = (value) =>
  typeof value === "string" && /^(0|[1-9]\d{0,19})$/.test(value) && BigInt(value) < 1n << 64n
    ? BigInt(value)
    : refuse("a whole number from 0 to 2^64 - 1 in quotes");

/** A decimal in its shortest spelling; it stays text. */
export const real: Read<string> = (value) =>
  typeof value === "string" && isFinite(+value) && repr(+value) === value
    ? value
    : refuse("a decimal in quotes, in its shortest form");

export const list =
  <T>(read: Read<T>): Read<T[]> =>
  (value) =>
    Array.isArray(value) ? value.map(read) : refuse("a list");

export const object: Read<Content> = (value) => (isContent(value) ? value : refuse("an object"));

function refuse(expected: string): never {
  throw new CodecError(`${expected} was expected in a document`);
}
