// Byte arrays: concatenation, little-endian numbers, UTF-8 and hexadecimal text.

/** Returns all parts as one array. */
export function concatenate(...parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Returns a whole number below 2^32 as `width` little-endian bytes. */
export function littleEndian(number: number, width: number): Uint8Array {
  return Uint8Array.from({ length: width }, (_, i) => (i < 4 ? number >>> (8 * i) : 0));
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function unhex(text: string): Uint8Array {
  const byte = (i: number): number => parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => byte(i));
}
