import { joined, little } from "../bytes.js";
import { need } from "../errors.js";
import { list, small, threshold } from "../wire/fields.js";
import { affineHash, bitLength, masks, permute, wordsOf } from "../maths/hashing.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
import { respond, responseRatio } from "./grr.js";
export const affine = of("affine", 63);
export const affine_prefix = of("affine_prefix", 480);
function of(name, longest) {
    const shape = { buckets: small, groups: list(small), keep: threshold };
    return kind(name, [3, 1n << BigInt(longest)], shape, ({ size, buckets, groups, keep }) => {
        const permuted = longest < 64;
        const bits = bitLength(BigInt(size) - 1n);
        const rank = Math.log2(buckets);
        need(Number.isInteger(rank) && rank > 0 && rank < bits && rank <= 12, "buckets of this domain are a smaller power of two");
        const sum = groups.reduce((total, width) => total + width, 0);
        need(!groups.length || (permuted && groups.every((width) => width > 0) && sum === bits), `the widths of groups must sum to ${bits} bits`);
        need(bits < 64 || BigInt(size) === 1n << BigInt(bits), "a domain above 2^63 must be a power of two");
        const held = halves(keep);
        return {
            ratio: responseRatio(keep, buckets),
            width: 10,
            groups,
            permanent(index, random) {
                const point = permuted ? permute(index, bits, groups) : index;
                const [low, high] = [random.word(), random.word()];
                const bucket = affineHash(masks(low, high, bits, rank), wordsOf(point, bits));
                return joined(little(low, 4), little(high, 4), little(respond(bucket, buckets, held, random), 2));
            },
        };
    });
}
