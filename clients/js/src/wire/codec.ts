// Canonical JSON: one meaning, one text, one digest.  Keys sorted by code point, no white space, no floating point.

import { utf8 } from "../bytes.js";
import { CodecError } from "../errors.js";
import { sha256 } from "../maths/sha256.js";

export type Json = null | boolean | number | string | Json[] | Content;
export interface Content {
  [key: string]: Json;
}

/** Returns the document in a text; refuses floating point, repeated keys and anything but an object. */
export function parse(text: string): Content {
  try {
    let keys = 0;
    const content: unknown = JSON.parse(text, (key, value: unknown) => {
      if (isContent(value)) keys += Object.keys(value).length;
      // 2^53 and more travel as strings; half of a surrogate pair is no character.
      const whole = typeof value !== "number" || Number.isSafeInteger(value);
      if (!whole || /\p{Cs}/u.test(typeof value === "string" ? `${key} ${value}` : key)) throw 0;
      return value === 0 ? 0 : value; // there is one zero
    });
    const bare = text.replace(/"(\\.|[^"\\])*"|true|false/g, ""); // a point or an e is a float's, every colon a key's
    if (isContent(content) && canonical(content) && !/[.eE]/.test(bare) && bare.split(":").length === keys + 1)
      return content;
  } catch {
    // Whatever is wrong with it, it is refused.
  }
  throw new CodecError("a document is a JSON object of whole numbers below 2^53, text and lists, and has no key twice");
}

export function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the one way to write a document. */
export function canonical(content: Json): string {
  if (Array.isArray(content)) return `[${content.map(canonical)}]`;
  if (!isContent(content)) return JSON.stringify(content);
  const keys = Object.keys(content).sort(byCodePoint);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(content[key]!)}`)}}`;
}

/** Returns the 16 bytes that name a document by its content. */
export function digestBytes(content: Content): Uint8Array {
  return sha256(utf8(canonical(content))).slice(0, 16);
}

/** Returns those bytes as base64url without padding. */
export function digest(content: Content): string {
  return btoa(String.fromCharCode(...digestBytes(content))).replace(
    /[+/=]/g,
    (sign) => ({ "+": "-", "/": "_" })[sign] ?? "",
  );
}

function byCodePoint(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  const at = a.findIndex((character, i) => character !== b[i]);
  return at < 0 ? a.length - b.length : (a[at]!.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}
