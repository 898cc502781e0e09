// SHA-256 and HMAC, synchronous: crypto.subtle is missing in insecure contexts, and a ledger's transaction cannot wait.
// Source: FIPS 180-4, RFC 2104.

import { joined } from "../bytes.js";

const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19];
for (let n = 23; PRIMES.length < 64; n += 2) if (PRIMES.every((prime) => n % prime)) PRIMES.push(n);

// First 32 bits of the fractional parts of roots of primes, by bisection in whole numbers.
const root =
  (power: bigint) =>
  (prime: number): number => {
    const target = BigInt(prime) << (32n * power);
    let low = 0n;
    for (let bit = 1n << 37n; bit; bit >>= 1n) if ((low + bit) ** power <= target) low += bit;
    return Number(low & 0xffffffffn);
  };
const START = PRIMES.slice(0, 8).map(root(2n));
const ROUNDS = PRIMES.map(root(3n));

export function sha256(...parts: Uint8Array[]): Uint8Array {
  const data = joined(...parts);
  const padded = new DataView(new ArrayBuffer(((data.length + 72) >> 6) << 6));
  new Uint8Array(padded.buffer).set(data);
  padded.setUint8(data.length, 128);
  padded.setUint32(padded.byteLength - 8, data.length / 0x20000000);
  padded.setUint32(padded.byteLength - 4, data.length << 3);
  const state = Uint32Array.from(START);
  for (let at = 0; at < padded.byteLength; at += 64) compress(state, padded, at);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

export function hmac(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = sha256(
    block.map((byte) => byte ^ 0x36),
    ...parts,
  );
  return sha256(
    block.map((byte) => byte ^ 0x5c),
    inner,
  );
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function compress(state: Uint32Array, data: DataView, at: number): void {
  const w = new Uint32Array(64);
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const early = w[i - 15]!,
      late = w[i - 2]!;
    w[i] =
      i < 16
        ? data.getUint32(at + 4 * i)
        : w[i - 16]! +
          w[i - 7]! +
          (turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)) +
          (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
    const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i]! + w[i]!;
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i]! += word));
}
