import { need } from "../errors.js";
import { threshold } from "../wire/fields.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
import { responseRatio } from "./grr.js";
export const channels = kind("channels", [4, 2 ** 17], { keep: threshold }, ({ size, keep }) => {
    need(size % 2 === 0, "every channel carries one bit: a size is even");
    const count = size / 2;
    const width = Math.ceil(count / 8);
    const held = halves(keep);
    return {
        ratio: responseRatio(keep, 2),
        width,
        permanent(index, random) {
            const row = Uint8Array.from(random.bytes(width));
            row[width - 1] &= 0xff >> (8 * width - count);
            const own = index >> 1;
            const bit = (index & 1) ^ +!random.bernoulli(held);
            row[own >> 3] = (row[own >> 3] & ~(1 << (own & 7))) | (bit << (own & 7));
            return row;
        },
    };
});
