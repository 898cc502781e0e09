import { concatenate } from "../bytes.js";
const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19];
for (let n = 23; PRIMES.length < 64; n += 2)
    if (PRIMES.every((prime) => n % prime))
        PRIMES.push(n);
const fraction = (power) => (prime) => {
    const target = BigInt(prime) << (32n * power);
    let root = 0n;
    for (let bit = 1n << 37n; bit; bit >>= 1n)
        if ((root + bit) ** power <= target)
            root += bit;
    return Number(root & 0xffffffffn);
};
const START = PRIMES.slice(0, 8).map(fraction(2n));
const ROUNDS = PRIMES.map(fraction(3n));
export function sha256(...parts) {
    const data = concatenate(...parts);
    const padded = new DataView(new ArrayBuffer(((data.length + 72) >> 6) << 6));
    new Uint8Array(padded.buffer).set(data);
    padded.setUint8(data.length, 128);
    padded.setUint32(padded.byteLength - 8, data.length / 0x20000000);
    padded.setUint32(padded.byteLength - 4, data.length << 3);
    const state = Uint32Array.from(START);
    for (let offset = 0; offset < padded.byteLength; offset += 64)
        compress(state, padded, offset);
    const digest = new DataView(new ArrayBuffer(32));
    state.forEach((word, i) => digest.setUint32(4 * i, word));
    return new Uint8Array(digest.buffer);
}
export function hmac(key, ...parts) {
    const block = new Uint8Array(64);
    block.set(key.length > 64 ? sha256(key) : key);
    const masked = (mask) => block.map((byte) => byte ^ mask);
    return sha256(masked(0x5c), sha256(masked(0x36), ...parts));
}
const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits));
function compress(state, data, offset) {
    const w = new Uint32Array(64);
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
        const x = w[i - 15];
        const y = w[i - 2];
        const sigma0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
        const sigma1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
        w[i] = i < 16 ? data.getUint32(offset + 4 * i) : w[i - 16] + w[i - 7] + sigma0 + sigma1;
        const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        const t1 = h + sum1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i];
        const t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        [a, b, c, d, e, f, g, h] = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
}
