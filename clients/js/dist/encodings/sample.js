import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { readFields, small } from "../wire/fields.js";
import { candidateCount, checkCandidates, heldCandidates, SHAPE } from "./size.js";
const MAX_LENGTH = 65536;
export function read(document) {
    const sample = readFields(document, "sample", { ...SHAPE, length: small });
    const { items, among, length } = sample;
    checkCandidates(sample);
    need(length >= 1 && length <= MAX_LENGTH, `\`length\` must be from 1 to ${MAX_LENGTH}`);
    return {
        kind: "sample",
        outputs: (domain) => narrow(BigInt(candidateCount(sample, domain)) + BigInt(length)),
        encode(index, rng) {
            const held = heldCandidates(sample, index);
            const drawn = rng.integer(Math.max(held.length, length));
            const dummy = rng.integer(length);
            return held[drawn] ?? narrow(BigInt(among.length || items) + BigInt(dummy));
        },
        worstRatio({ kind, worstRatio: [numerator, denominator] }) {
            if (kind !== "grr")
                return [numerator, denominator];
            const padded = denominator * BigInt(length);
            return [padded + numerator - denominator, padded];
        },
    };
}
