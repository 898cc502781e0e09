import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { small, threshold } from "../wire/fields.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
import { bits } from "./unary.js";
export const subset = kind("subset", [2, 65536], { chosen: small, keep: threshold }, ({ size, chosen, keep }) => {
    need(chosen >= 1 && chosen < size, "a subset has at least one value and leaves out at least one");
    const held = halves(keep);
    return {
        ratio: [keep * BigInt(size - chosen), (UNIT - keep) * BigInt(chosen)],
        width: Math.ceil(size / 8),
        permanent(index, random) {
            const holds = random.bernoulli(held);
            const aside = random.integer(chosen);
            const over = (other) => other + +(other >= index);
            const set = new Set();
            let leaver = 0;
            for (let step = 0; step < chosen; step++) {
                const last = size - 1 - chosen + step;
                const drawn = over(random.integer(last + 1));
                const picked = set.has(drawn) ? over(last) : drawn;
                set.add(picked);
                leaver = step === aside ? picked : leaver;
            }
            const [out, other] = holds ? [leaver, index] : [index, leaver];
            set.delete(out);
            set.add(other);
            return bits(size, (place) => set.has(place));
        },
    };
});
