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
const START = Uint32Array.from(PRIMES.slice(0, 8), fraction(2n));
const ROUNDS = Int32Array.from(PRIMES, fraction(3n));
export function sha256(...parts) {
    return finish(START, 0, concatenate(...parts));
}
export function hmac(key, ...parts) {
    return hmacWith(key)(...parts);
}
export function hmacWith(key) {
    const block = new Uint8Array(64);
    block.set(key.length > 64 ? sha256(key) : key);
    const stateAfter = (mask) => {
        const state = START.slice();
        compress(state, new DataView(block.map((byte) => byte ^ mask).buffer), 0);
        return state;
    };
    const inner = stateAfter(0x36);
    const outer = stateAfter(0x5c);
    return (...parts) => finish(outer, 64, finish(inner, 64, concatenate(...parts)));
}
function finish(start, before, data) {
    const length = before + data.length;
    const padded = new DataView(new ArrayBuffer(((data.length + 72) >> 6) << 6));
    new Uint8Array(padded.buffer).set(data);
    padded.setUint8(data.length, 128);
    padded.setUint32(padded.byteLength - 8, length / 0x20000000);
    padded.setUint32(padded.byteLength - 4, length << 3);
    const state = start.slice();
    for (let offset = 0; offset < padded.byteLength; offset += 64)
        compress(state, padded, offset);
    const digest = new DataView(new ArrayBuffer(32));
    for (let i = 0; i < 8; i++)
        digest.setUint32(4 * i, state[i]);
    return new Uint8Array(digest.buffer);
}
const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits));
const w = new Int32Array(64);
function compress(state, data, offset) {
    for (let i = 0; i < 16; i++)
        w[i] = data.getInt32(offset + 4 * i);
    for (let i = 16; i < 64; i++) {
        const x = w[i - 15];
        const y = w[i - 2];
        const sigma0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
        const sigma1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
        w[i] = w[i - 16] + w[i - 7] + sigma0 + sigma1;
    }
    let a = state[0] | 0;
    let b = state[1] | 0;
    let c = state[2] | 0;
    let d = state[3] | 0;
    let e = state[4] | 0;
    let f = state[5] | 0;
    let g = state[6] | 0;
    let h = state[7] | 0;
    for (let i = 0; i < 64; i++) {
        const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        const t1 = (h + sum1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
        const t2 = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + t1) | 0;
        d = c;
        c = b;
        b = a;
        a = (t1 + t2) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}
