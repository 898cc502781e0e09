// Bytes that documents and answers write as base64url without padding.

import { base64url } from "../bytes.js";
import type { ParameterError } from "../errors.js";
import { CodecError, need } from "../errors.js";

/** Returns the bytes, exactly `length` of them, in a text of base64url without padding. */
export function fromBase64url(name: string, text: unknown, length: number): Uint8Array {
  const rule = `\`${name}\` must be base64url of exactly ${length} bytes, without padding`;
  need(typeof text === "string" && /^[\w-]*$/.test(text), rule);
  need(text.length === Math.ceil((4 * length) / 3), rule);
  const base64 = text.replace(/[-_]/g, (sign) => (sign === "-" ? "+" : "/"));
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  need(base64url(bytes) === text, rule);
  return bytes;
}

/** Returns bytes in the answer of a collector, or refuses the answer. */
export function answeredBytes(name: string, content: unknown, length: number): Uint8Array {
  try {
    return fromBase64url(name, content, length);
  } catch (error) {
    throw new CodecError((error as ParameterError).message);
  }
}
