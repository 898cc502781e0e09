const P1 = 2654435761;
const P2 = 2246822519;
const P3 = 3266489917;
const P4 = 668265263;
const P5 = 374761393;
const GOLDEN = 0x9e3779b9;
export function bitLength(size) {
    return BigInt(size).toString(2).length;
}
export function wordsOf(index, bits) {
    const count = Math.max(1, Math.ceil(bits / 32));
    const word = (i) => Number((BigInt(index) >> BigInt(32 * i)) & 0xffffffffn);
    return Uint32Array.from({ length: count }, (_, i) => word(i));
}
export function xxh32(words, seed) {
    const striped = words.length & ~3;
    const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1];
    words.subarray(0, striped).forEach((word, i) => {
        lanes[i & 3] = Math.imul(rotate(lanes[i & 3] + Math.imul(word, P2), 13), P1);
    });
    const [a, b, c, d] = lanes;
    let hash = striped ? rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18) : seed + P5;
    hash += 4 * words.length;
    for (const word of words.subarray(striped))
        hash = Math.imul(rotate(hash + Math.imul(word, P3), 17), P4);
    hash = Math.imul(hash ^ (hash >>> 15), P2);
    hash = Math.imul(hash ^ (hash >>> 13), P3);
    return (hash ^ (hash >>> 16)) >>> 0;
}
export function mix(word) {
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0xd35a2d97);
    return (word ^ (word >>> 15)) >>> 0;
}
export function masks(low, high, bits, rank) {
    const width = (bits >>> 5) + 1;
    const first = mix(low + 0x7f4a7c15);
    const second = mix(high + first);
    const top = 2 ** (bits & 31) - 1;
    const rows = [];
    const basis = [];
    for (let index = 1; rows.length < rank; index += width) {
        const row = new Uint32Array(width).map((_, i) => mix(mix(second + Math.imul(index + i, GOLDEN)) + first));
        row[width - 1] &= top | 0x80000000;
        const rest = row.slice();
        rest[width - 1] &= top;
        for (const vector of basis)
            if (hasLeadingBit(vector, rest))
                vector.forEach((word, i) => (rest[i] ^= word));
        if (rest.some(Boolean)) {
            rows.push(row);
            basis.push(rest);
        }
    }
    return rows;
}
export function affineHash(rows, point) {
    return rows.reduce((bucket, mask, r) => {
        const last = mask.length - 1;
        let parity = mask[last] & 0x80000000;
        mask.forEach((word, i) => (parity ^= word & (point[i] ?? 0)));
        for (let shift = 16; shift; shift >>= 1)
            parity ^= parity >>> shift;
        return bucket | ((parity & 1) << r);
    }, 0);
}
export function permute(index, bits, groups) {
    let point = 0n;
    let shift = 0n;
    for (const width of groups.length ? groups : [bits]) {
        point |= feistel(BigInt.asUintN(width, BigInt(index) >> shift), width) << shift;
        shift += BigInt(width);
    }
    return point;
}
function feistel(group, bits) {
    if (bits === 1)
        return group;
    const high = bits >>> 1;
    const low = bits - high;
    let left = Number(group >> BigInt(low));
    let right = Number(BigInt.asUintN(low, group));
    for (let i = 1; i <= 6; i++) {
        if (i & 1)
            left = (left ^ (mix(right + Math.imul(i, GOLDEN)) >>> (32 - high))) >>> 0;
        else
            right = (right ^ (mix(left + Math.imul(i, GOLDEN)) >>> (32 - low))) >>> 0;
    }
    return (BigInt(left) << BigInt(low)) | BigInt(right);
}
function hasLeadingBit(vector, words) {
    const first = vector.findIndex(Boolean);
    const bit = vector[first] & -vector[first];
    return (words[first] & bit) !== 0;
}
function rotate(word, bits) {
    return (word << bits) | (word >>> (32 - bits));
}
