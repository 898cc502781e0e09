// The two hash families, frozen: seeded xxh32 for local hashing, affine maps over GF(2) for affine response.
// Source: xxHash specification 0.1.1; docs/affine-response.md.

import type { Whole } from "../wire/fields.js";

const [P1, P2, P3, P4, P5] = [2654435761, 2246822519, 3266489917, 668265263, 374761393];
const GOLDEN = 0x9e3779b9;

export function bitLength(size: Whole): number {
  return BigInt(size).toString(2).length;
}

/** Returns the index as 32-bit words, low word first, as many as the domain's bits need. */
export function wordsOf(index: Whole, bits: number): Uint32Array {
  return Uint32Array.from({ length: Math.max(1, Math.ceil(bits / 32)) }, (_, i) =>
    Number((BigInt(index) >> BigInt(32 * i)) & 0xffffffffn),
  );
}

export function xxh32(words: Uint32Array, seed: number): number {
  const striped = words.length & ~3;
  const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1];
  words.subarray(0, striped).forEach((word, i) => {
    lanes[i & 3] = Math.imul(turned(lanes[i & 3]! + Math.imul(word, P2), 13), P1);
  });
  const [a, b, c, d] = lanes as [number, number, number, number];
  let hash = striped ? turned(a, 1) + turned(b, 7) + turned(c, 12) + turned(d, 18) : seed + P5;
  hash += 4 * words.length;
  for (const word of words.subarray(striped)) hash = Math.imul(turned(hash + Math.imul(word, P3), 17), P4);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns a bijection of 32-bit words that scatters every bit of them. */
export function mix(word: number): number {
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0xd35a2d97);
  return (word ^ (word >>> 15)) >>> 0;
}

/** Returns the seed's `rank` independent masks, each with its offset in the top bit of its last word. */
export function masks(low: number, high: number, bits: number, rank: number): Uint32Array[] {
  const width = (bits >>> 5) + 1;
  const first = mix(low + 0x7f4a7c15);
  const second = mix(high + first);
  const top = 2 ** (bits & 31) - 1;
  const found: Uint32Array[] = [];
  const basis: Uint32Array[] = [];
  for (let index = 1; found.length < rank; index += width) {
    const drawn = new Uint32Array(width).map((_, i) => mix(mix(second + Math.imul(index + i, GOLDEN)) + first));
    drawn[width - 1]! &= top | 0x80000000;
    const rest = drawn.slice();
    rest[width - 1]! &= top;
    // Every row of the basis is led by a bit that no later row has.
    for (const row of basis) if (leads(row, rest)) row.forEach((word, i) => (rest[i]! ^= word));
    if (rest.some(Boolean)) (found.push(drawn), basis.push(rest));
  }
  return found;
}

/** Returns the bucket of a point under the masks: bit r is the parity of mask r and the point, and its offset. */
export function affineHash(rows: Uint32Array[], point: Uint32Array): number {
  return rows.reduce((bucket, mask, r) => {
    const last = mask.length - 1;
    let parity = mask[last]! & 0x80000000;
    mask.forEach((word, i) => (parity ^= word & (point[i] ?? 0)));
    for (let by = 16; by; by >>= 1) parity ^= parity >>> by;
    return bucket | ((parity & 1) << r);
  }, 0);
}

/** Returns the public bijection of [0, 2^bits), acting on each group of bits by itself, least significant first. */
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

/** Returns whether the words have the lowest bit of the row's first word that is not zero. */
function leads(row: Uint32Array, words: Uint32Array): boolean {
  const at = row.findIndex(Boolean);
  return (words[at]! & row[at]! & -row[at]!) !== 0;
}

function turned(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
