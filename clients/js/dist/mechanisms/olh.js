import { concatenate, littleEndian } from "../bytes.js";
import { multiplyHigh, thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { bitLength, wordsOf, xxh32 } from "../maths/hashing.js";
import { small, threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { respond, responseRatio } from "./grr.js";
export const SIZES = [2, 1n << 63n];
const SHAPE = { buckets: small, keep: threshold };
export const read = mechanismReader("olh", SIZES, SHAPE, ({ size, buckets, keep }) => {
    need(buckets >= 2 && buckets <= 2 ** 20, "`buckets` must be from 2 to 2^20");
    return localHashing({ size, buckets, keep, width: buckets > 65536 ? 4 : 2 });
});
export function localHashing(settings) {
    const { size, buckets, keep, width, drawSeed = (rng) => rng.word() } = settings;
    const drawsAnySeed = settings.drawSeed === undefined;
    const keepWords = thresholdWords(keep);
    const bits = bitLength(BigInt(size) - 1n);
    return {
        worstRatio: responseRatio(keep, buckets),
        width: 4 + width,
        share: 1 / buckets,
        overlap: drawsAnySeed ? 1 / buckets : 0,
        permanent(index, rng) {
            const seed = drawSeed(rng);
            const bucket = multiplyHigh(xxh32(wordsOf(index, bits), seed), buckets);
            const response = respond(bucket, buckets, keepWords, rng);
            return concatenate(littleEndian(seed, 4), littleEndian(response, width));
        },
    };
}
