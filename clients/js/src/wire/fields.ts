// The fields of documents, read strictly: a document that would be written differently is refused.

import { MAX_INTEGER_DIGITS, MAX_REAL_CHARACTERS } from "../core/bounds.js";
import { CodecError } from "../errors.js";
import { shortest } from "../maths/exact.js";
import type { Document, Json } from "./codec.js";
import { isDocument } from "./codec.js";

/** A whole number: a bigint from 2^53 on, which documents write as text. */
export type Whole = number | bigint;
const WIDE_INTEGER = new RegExp(`^-?[1-9]\\d{15,${MAX_INTEGER_DIGITS - 1}}$`);

export type Read<T> = (value: Json) => T;
export type Shape = Record<string, Read<any>>;
export type Fields<S extends Shape> = { [K in keyof S]: ReturnType<S[K]> };

/** Returns the fields of a document of this kind; all are required but the `optional` ones. */
export function readFields<S extends Shape>(
  document: Json,
  kind: string,
  shape: S,
  optional: string[] = [],
): Fields<S> {
  if (!isDocument(document) || document.kind !== kind)
    throw new CodecError(`\`kind\` of this document must be ${kind}`);
  const names = Object.keys(shape);
  const unknown = Object.keys(document).some((key) => key !== "kind" && !names.includes(key));
  if (unknown || !names.every((name) => name in document || optional.includes(name)))
    throw new CodecError(`the fields of a ${kind} must be ${names.join(", ")}`);
  const present = names.filter((name) => name in document);
  const entries = present.map((name) => [name, shape[name]!(document[name]!)]);
  return Object.fromEntries(entries) as Fields<S>;
}

/** Returns the kind of a document, or an empty text. */
export function kindOf(document: Json): string {
  return isDocument(document) && typeof document.kind === "string" ? document.kind : "";
}

/** Returns the length of a list in a document; 1 if the field is no list. */
export function lengthOf(document: Json, field: string): number {
  const value = isDocument(document) ? document[field] : undefined;
  return Array.isArray(value) ? value.length : 1;
}

export const flag: Read<boolean> = (value) =>
  typeof value === "boolean" ? value : refuse("true or false");

export const text: Read<string> = (value) =>
  typeof value === "string" && value.normalize("NFC") === value ? value : refuse("text in NFC");

export const small: Read<number> = (value) =>
  typeof value === "number" ? value : refuse("a whole number");

export const whole: Read<Whole> = (value) =>
  typeof value === "string" && WIDE_INTEGER.test(value) && !Number.isSafeInteger(+value)
    ? BigInt(value)
    : small(value);

/** A probability in units of 2^-64. */
export const threshold: Read<bigint> = (value) =>
  typeof value === "string" && /^(0|[1-9]\d{0,19})$/.test(value) && BigInt(value) < 1n << 64n
    ? BigInt(value)
    : refuse("a whole number from 0 to 2^64 - 1 in quotes");

/** A decimal in its shortest form; it stays text. */
export const real: Read<string> = (value) =>
  typeof value === "string" &&
  value.length <= MAX_REAL_CHARACTERS &&
  isFinite(+value) &&
  shortest(+value) === value
    ? value
    : refuse("a decimal in quotes, in its shortest form");

export const list =
  <T>(read: Read<T>): Read<T[]> =>
  (value) =>
    Array.isArray(value) ? value.map((entry) => read(entry)) : refuse("a list");

export const object: Read<Document> = (value) => (isDocument(value) ? value : refuse("an object"));

function refuse(expected: string): never {
  throw new CodecError(`a field of this document must be ${expected}`);
}
