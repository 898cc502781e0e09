import { packBits } from "../core/packing.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
export const SIZES = [2, 2 ** 20];
export const SHAPE = { keep: threshold, flip: threshold };
export function unary(size, keep, flip) {
    need(flip > 0n, "`flip` must be above 0");
    need(keep > flip, "`keep` must be above `flip`");
    const keepWords = thresholdWords(keep);
    const flipWords = thresholdWords(flip);
    return {
        worstRatio: [keep * (UNIT - flip), flip * (UNIT - keep)],
        width: Math.ceil(size / 8),
        share: Number(flip) / 2 ** 64,
        overlap: Number(flip) / 2 ** 64,
        permanent(index, rng) {
            const row = packBits(size, () => rng.bernoulli(flipWords));
            const byte = index >> 3;
            const bit = index & 7;
            row[byte] = (row[byte] & ~(1 << bit)) | (+rng.bernoulli(keepWords) << bit);
            return row;
        },
    };
}
