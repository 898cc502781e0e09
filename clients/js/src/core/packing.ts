// How mechanisms pack their reports: unsigned fields and rows of bits.

/** Returns how many bytes (1, 2 or 4) an index below `size` needs. */
export function unsignedWidth(size: number): number {
  if (size <= 256) return 1;
  return size <= 65536 ? 2 : 4;
}

/** Returns `size` bits as bytes, the least significant bit first. */
export function packBits(size: number, bit: (position: number) => boolean): Uint8Array {
  const packed = new Uint8Array(Math.ceil(size / 8));
  for (let i = 0; i < size; i++) packed[i >> 3]! |= +bit(i) << (i & 7);
  return packed;
}
