// Bytes: joined, little-endian, as hex and as UTF-8.

export function joined(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) (whole.set(part, at), (at += part.length));
  return whole;
}

/** Returns a whole number in so many little-endian bytes. */
export function little(number: number, width: number): Uint8Array {
  return Uint8Array.from({ length: width }, (_, i) => (i < 4 ? number >>> (8 * i) : 0));
}

/** Returns the bytes of the smallest unsigned field, of 1, 2 or 4, that holds an index below `size`. */
export function unsigned(size: number): number {
  return size <= 256 ? 1 : size <= 65536 ? 2 : 4;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function unhex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
