// Canonical JSON: every document has one text and one digest.  Keys are sorted by code point, there
// is no white space, and numbers are whole.

import { utf8 } from "../bytes.js";
import { CodecError } from "../errors.js";
import { sha256 } from "../maths/sha256.js";

export type Json = null | boolean | number | string | Json[] | Document;
export interface Document {
  [key: string]: Json;
}

/** Returns the document in a text; refuses floating point, repeated keys and all but an object. */
export function parse(text: string): Document {
  try {
    let keys = 0;
    const document: unknown = JSON.parse(text, (key, value: unknown) => {
      if (isDocument(value)) keys += Object.keys(value).length;
      // Whole numbers of 2^53 and more are written as strings.
      if (typeof value === "number" && !Number.isSafeInteger(value)) throw 0;
      // Half of a surrogate pair is not a character.
      if (/\p{Cs}/u.test(typeof value === "string" ? `${key} ${value}` : key)) throw 0;
      return value === 0 ? 0 : value; // -0 is written as 0
    });
    // Outside strings, a point or an e belongs to a float, and every colon to a key.
    const bare = text.replace(/"(\\.|[^"\\])*"|true|false/g, "");
    const exact = !/[.eE]/.test(bare) && bare.split(":").length === keys + 1;
    if (isDocument(document) && canonical(document) && exact) return document;
  } catch {
    // Every reason to refuse a text gives the same error.
  }
  throw new CodecError(
    "a document must be a JSON object of text, lists and whole numbers below 2^53, no key twice",
  );
}

export function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the canonical text of a document or of a part of one. */
export function canonical(content: Json): string {
  if (Array.isArray(content)) return `[${content.map(canonical)}]`;
  if (!isDocument(content)) return JSON.stringify(content);
  const keys = Object.keys(content).sort(byCodePoint);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(content[key]!)}`)}}`;
}

/** Returns the digest of a document: the first 16 bytes of the SHA-256 of its canonical text. */
export function digestBytes(document: Document): Uint8Array {
  return sha256(utf8(canonical(document))).slice(0, 16);
}

/** Returns the digest as base64url text without padding. */
export function digest(document: Document): string {
  const base64 = btoa(String.fromCharCode(...digestBytes(document)));
  return base64.replace(/[+/=]/g, (sign) => ({ "+": "-", "/": "_" })[sign] ?? "");
}

function byCodePoint(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  const i = a.findIndex((character, j) => character !== b[j]);
  if (i < 0) return a.length - b.length;
  return a[i]!.codePointAt(0)! - (b[i]?.codePointAt(0) ?? -1);
}
