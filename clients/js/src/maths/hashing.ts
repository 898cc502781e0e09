// The two hash families, which never change: seeded xxh32 for local hashing, and affine maps over
// GF(2) for affine response.
// Source: xxHash specification 0.1.1; docs/affine-response.md.

import type { Whole } from "../wire/fields.js";

const P1 = 2654435761;
const P2 = 2246822519;
const P3 = 3266489917;
const P4 = 668265263;
const P5 = 374761393;
const GOLDEN = 0x9e3779b9;

export function bitLength(size: Whole): number {
  return BigInt(size).toString(2).length;
}

/** Returns the index as 32-bit words, low word first, as many as the domain's bits need. */
export function wordsOf(index: Whole, bits: number): Uint32Array {
  const count = Math.max(1, Math.ceil(bits / 32));
  const word = (i: number): number => Number((BigInt(index) >> BigInt(32 * i)) & 0xffffffffn);
  return Uint32Array.from({ length: count }, (_, i) => word(i));
}

export function xxh32(words: Uint32Array, seed: number): number {
  const striped = words.length & ~3;
  const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1];
  words.subarray(0, striped).forEach((word, i) => {
    lanes[i & 3] = Math.imul(rotate(lanes[i & 3]! + Math.imul(word, P2), 13), P1);
  });
  const [a, b, c, d] = lanes as [number, number, number, number];
  let hash = striped ? rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18) : seed + P5;
  hash += 4 * words.length;
  for (const word of words.subarray(striped))
    hash = Math.imul(rotate(hash + Math.imul(word, P3), 17), P4);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the image of a word under a fixed bijection that scatters every bit. */
export function mix(word: number): number {
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0xd35a2d97);
  return (word ^ (word >>> 15)) >>> 0;
}

/**
 * Returns the `rank` independent masks of a seed.  The top bit of the last word of a mask is its
 * offset.
 */
export function masks(low: number, high: number, bits: number, rank: number): Uint32Array[] {
  const width = (bits >>> 5) + 1;
  const first = mix(low + 0x7f4a7c15);
  const second = mix(high + first);
  const top = 2 ** (bits & 31) - 1;
  const rows: Uint32Array[] = [];
  const basis: Uint32Array[] = [];
  for (let index = 1; rows.length < rank; index += width) {
    const row = new Uint32Array(width).map((_, i) =>
      mix(mix(second + Math.imul(index + i, GOLDEN)) + first),
    );
    row[width - 1]! &= top | 0x80000000;
    const rest = row.slice();
    rest[width - 1]! &= top;
    // The leading bit of a basis vector is set in no later one, so one pass eliminates them all.
    for (const vector of basis)
      if (hasLeadingBit(vector, rest)) vector.forEach((word, i) => (rest[i]! ^= word));
    if (rest.some(Boolean)) {
      rows.push(row);
      basis.push(rest);
    }
  }
  return rows;
}

/** Returns the bucket of a point: bit r is the parity of (mask r AND point), plus the offset. */
export function affineHash(rows: Uint32Array[], point: Uint32Array): number {
  return rows.reduce((bucket, mask, r) => {
    const last = mask.length - 1;
    let parity = mask[last]! & 0x80000000;
    mask.forEach((word, i) => (parity ^= word & (point[i] ?? 0)));
    for (let shift = 16; shift; shift >>= 1) parity ^= parity >>> shift;
    return bucket | ((parity & 1) << r);
  }, 0);
}

/**
 * Returns the image of an index under the public bijection of [0, 2^bits).  The bijection acts on
 * every group of bits separately; groups are listed from the least significant one.
 */
export function permute(index: Whole, bits: number, groups: number[]): bigint {
  let point = 0n;
  let shift = 0n;
  for (const width of groups.length ? groups : [bits]) {
    point |= feistel(BigInt.asUintN(width, BigInt(index) >> shift), width) << shift;
    shift += BigInt(width);
  }
  return point;
}

function feistel(group: bigint, bits: number): bigint {
  if (bits === 1) return group;
  const high = bits >>> 1;
  const low = bits - high;
  let left = Number(group >> BigInt(low));
  let right = Number(BigInt.asUintN(low, group));
  for (let i = 1; i <= 6; i++) {
    if (i & 1) left = (left ^ (mix(right + Math.imul(i, GOLDEN)) >>> (32 - high))) >>> 0;
    else right = (right ^ (mix(left + Math.imul(i, GOLDEN)) >>> (32 - low))) >>> 0;
  }
  return (BigInt(left) << BigInt(low)) | BigInt(right);
}

/** Returns whether the leading bit of `vector`, the lowest of its first word, is set in `words`. */
function hasLeadingBit(vector: Uint32Array, words: Uint32Array): boolean {
  const first = vector.findIndex(Boolean);
  const bit = vector[first]! & -vector[first]!;
  return (words[first]! & bit) !== 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
