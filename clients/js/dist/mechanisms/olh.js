import { joined, little } from "../bytes.js";
import { need } from "../errors.js";
import { small, threshold, whole } from "../wire/fields.js";
import { bitLength, wordsOf, xxh32 } from "../maths/hashing.js";
import { kind } from "./base.js";
import { halves, multiplyHigh } from "../core/rng.js";
import { respond, responseRatio } from "./grr.js";
const SIZES = [2, 1n << 63n];
export const blh = kind("blh", SIZES, { keep: threshold }, ({ size, keep }) => hashed(size, 2, keep, 2, fresh));
export const olh = kind("olh", SIZES, { buckets: small, keep: threshold }, ({ size, buckets, keep }) => {
    need(buckets >= 2 && buckets <= 2 ** 20, "local hashing needs between 2 and 2^20 buckets");
    return hashed(size, buckets, keep, buckets > 65536 ? 4 : 2, fresh);
});
export const rmp = kind("rmp", SIZES, { rows: whole, keep: threshold }, ({ size, rows, keep }) => {
    need(rows === 0 || (rows >= 8 && rows <= 2 ** 32), "a pool has between 8 and 2^32 rows, or 0 for fresh ones");
    const pooled = (random) => rows < 2 ** 32 ? random.integer(Number(rows)) : Number(random.wide(BigInt(rows)));
    return hashed(size, 2, keep, 1, rows ? pooled : fresh);
});
function fresh(random) {
    return random.word();
}
function hashed(size, buckets, keep, width, draw) {
    const held = halves(keep);
    const bits = bitLength(BigInt(size) - 1n);
    return {
        ratio: responseRatio(keep, buckets),
        width: 4 + width,
        permanent(index, random) {
            const seed = draw(random);
            const bucket = multiplyHigh(xxh32(wordsOf(index, bits), seed), buckets);
            return joined(little(seed, 4), little(respond(bucket, buckets, held, random), width));
        },
    };
}
