import { DomainError, need } from "../errors.js";
import { checkEpsilon, isWithin } from "../maths/exact.js";
import { readFields, real, whole } from "../wire/fields.js";
export function mechanismReader(kind, [smallest, largest], shape, make) {
    return (document) => {
        const settings = readFields(document, kind, { epsilon: real, size: whole, ...shape });
        const { epsilon, size } = settings;
        checkEpsilon(epsilon);
        need(size >= smallest && size <= largest, `\`size\` must be from ${smallest} to ${largest}`);
        const randomizer = make(settings);
        checkRatio(randomizer.worstRatio, epsilon);
        return {
            instantaneous: (packed) => packed,
            ...randomizer,
            kind,
            epsilon,
            size,
            permanent(index, rng) {
                if (!(index >= 0 && index < size))
                    throw new DomainError("an index must be at least 0 and below the mechanism's size");
                return randomizer.permanent(index, rng);
            },
        };
    };
}
export function checkRatio(ratio, epsilon) {
    const [numerator, denominator] = ratio;
    need(numerator > denominator && denominator > 0n, "the thresholds must make a report more likely under its value than under another");
    need(isWithin(ratio, epsilon), "the thresholds spend more than the stated `epsilon`");
}
