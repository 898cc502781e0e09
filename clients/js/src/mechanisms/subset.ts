// Subset selection: a random set of `chosen` values, which contains the value with probability
// `keep`.

import { packBits } from "../core/packing.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { small, threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";

const SHAPE = { chosen: small, keep: threshold };

export const read = mechanismReader("subset", [2, 65536], SHAPE, ({ size, chosen, keep }) => {
  need(chosen >= 1 && chosen < size, "`chosen` must be at least 1 and below `size`");
  const keepWords = thresholdWords(keep);
  return {
    worstRatio: [keep * BigInt(size - chosen), (UNIT - keep) * BigInt(chosen)],
    width: Math.ceil(size / 8),
    steps: chosen,
    share: chosen / size,
    overlap: (chosen - 1) / (size - 1),
    permanent(index: number, rng) {
      const contains = rng.bernoulli(keepWords);
      const leavingStep = rng.integer(chosen);
      const skip = (other: number): number => (other >= index ? other + 1 : other);
      // Floyd's algorithm draws `chosen` of the other values; one of them makes room for the value.
      const set = new Set<number>();
      let leaving = 0;
      for (let step = 0; step < chosen; step++) {
        const last = size - 1 - chosen + step;
        const drawn = skip(rng.integer(last + 1));
        const picked = set.has(drawn) ? skip(last) : drawn;
        set.add(picked);
        if (step === leavingStep) leaving = picked;
      }
      if (contains) {
        set.delete(leaving);
        set.add(index);
      }
      return packBits(size, (value) => set.has(value));
    },
  };
});
