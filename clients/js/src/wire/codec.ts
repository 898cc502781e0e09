// Canonical JSON: every document has one text and one digest.  Keys are sorted by code point, there
// is no white space, and numbers are whole.

import { base64url, utf8 } from "../bytes.js";
import {
  MAX_DOCUMENT_BYTES,
  MAX_DOCUMENT_DEPTH,
  MAX_DOCUMENT_ENTRIES,
  MAX_DOCUMENT_NOUNS,
} from "../core/bounds.js";
import { CodecError } from "../errors.js";
import { sha256 } from "../maths/sha256.js";

export type Json = null | boolean | number | string | Json[] | Document;
export interface Document {
  [key: string]: Json;
}

/** Returns the document in a text; refuses floating point, repeated keys and all but an object. */
export function parse(text: string): Document {
  return parseCanonical(text).document;
}

/** A document and its canonical text. */
export interface CanonicalDocument {
  readonly document: Document;
  readonly canonicalText: string;
}

/** Returns the document in a text, and its canonical text. */
export function parseCanonical(text: string): CanonicalDocument {
  if (text.length > MAX_DOCUMENT_BYTES || utf8(text).length > MAX_DOCUMENT_BYTES)
    throw new CodecError(`a document may have at most ${grouped(MAX_DOCUMENT_BYTES)} bytes`);
  const { depth, entries, quotes, colons, hasFloat, hasSurrogate } = outlineOf(text);
  // An entry of an object has two texts in quotes.
  if (Math.max(entries, Math.floor(quotes / 4)) > MAX_DOCUMENT_ENTRIES)
    throw new CodecError(`a document may have at most ${grouped(MAX_DOCUMENT_ENTRIES)} entries`);
  if (text.split('"kind"').length - 1 > MAX_DOCUMENT_NOUNS)
    throw new CodecError(`a document may have at most ${grouped(MAX_DOCUMENT_NOUNS)} kinds`);
  if (depth > MAX_DOCUMENT_DEPTH)
    throw new CodecError(
      `a document may have at most ${MAX_DOCUMENT_DEPTH} levels, each of them closed`,
    );
  try {
    const document = JSON.parse(text) as Json;
    const writer = new Writer(hasSurrogate);
    const canonicalText = writer.write(document);
    // Of repeated keys only the last is left, so that there are more colons than keys.
    if (isDocument(document) && !hasFloat && writer.keyCount === colons)
      return { document, canonicalText };
  } catch {
    // Every reason to refuse a text gives the same error.
  }
  throw new CodecError(
    "a document must be a JSON object of text, lists and whole numbers below 2^53, no key twice",
  );
}

const UNITS = {
  "{": 123,
  "}": 125,
  "[": 91,
  "]": 93,
  ",": 44,
  ":": 58,
  '"': 34,
  "\\": 92,
  ".": 46,
  E: 69,
  e: 101,
};

/** Returns what can be seen in a text before anything is built from it. */
function outlineOf(text: string) {
  const counts = { depth: 0, entries: 0, quotes: 0, colons: 0 };
  const outline = { ...counts, hasFloat: false, hasSurrogate: false };
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const opens = unit === UNITS["{"] || unit === UNITS["["];
    if (opens || unit === UNITS[","]) outline.entries += 1; // in texts as well
    if (unit === UNITS['"']) {
      outline.quotes += 1;
      inString = !inString;
    } else if (inString) {
      if (unit >= 0xd800 && unit < 0xe000) outline.hasSurrogate = true;
      // The escape of any character may be one.
      if (unit === UNITS["\\"] && text[++i] === "u") outline.hasSurrogate = true;
    } else if (opens) {
      depth += 1;
      outline.depth = Math.max(outline.depth, depth);
    } else if (unit === UNITS["}"] || unit === UNITS["]"]) depth -= 1;
    else if (unit === UNITS[":"]) outline.colons += 1;
    else if (unit === UNITS["."] || unit === UNITS.E) outline.hasFloat = true;
    else if (unit === UNITS.e && /\d/.test(text[i - 1] ?? "")) outline.hasFloat = true;
  }
  return outline;
}

/** Returns a count with commas between thousands. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the canonical text of a document or of a part of one. */
export function canonical(content: Json): string {
  return new Writer(true).write(content);
}

/** Writes canonical text and counts keys; throws if a value cannot be written. */
class Writer {
  keyCount = 0;

  constructor(readonly mayHaveSurrogates: boolean) {}

  write(content: Json): string {
    if (typeof content === "string") return this.#writeText(content);
    // Whole numbers of 2^53 and more are written as strings.
    if (typeof content === "number" && !Number.isSafeInteger(content)) throw 0;
    const parts: string[] = [];
    if (Array.isArray(content)) {
      for (const entry of content) parts.push(this.write(entry));
      return `[${parts.join(",")}]`;
    }
    if (!isDocument(content)) return String(content);
    const keys = Object.keys(content);
    this.keyCount += keys.length;
    // Without surrogates the order of code points is that of units, which needs no comparison.
    keys.sort(this.mayHaveSurrogates ? byCodePoint : undefined);
    for (const key of keys) parts.push(`${this.#writeText(key)}:${this.write(content[key]!)}`);
    return `{${parts.join(",")}}`;
  }

  #writeText(text: string): string {
    if (this.mayHaveSurrogates && /\p{Cs}/u.test(text)) throw 0; // half of a surrogate pair
    return JSON.stringify(text);
  }
}

/** Returns the fingerprint of a canonical text, its SHA-256; digests are its first 16 bytes. */
export function fingerprintOf(canonicalText: string): Uint8Array {
  return sha256(utf8(canonicalText));
}

/** Returns the digest of a document as base64url text without padding. */
export function digest(document: Document): string {
  return base64url(fingerprintOf(canonical(document)).slice(0, 16));
}

function byCodePoint(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let i = 0;
  while (i < length && left.charCodeAt(i) === right.charCodeAt(i)) i++;
  if (i === length) return left.length - right.length;
  return rankOf(left.charCodeAt(i)) - rankOf(right.charCodeAt(i));
}

/** Returns the rank of a unit: halves of surrogate pairs stand above all other units. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
