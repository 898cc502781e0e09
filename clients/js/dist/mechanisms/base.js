import { DomainError, need } from "../errors.js";
import { checkEpsilon, within } from "../maths/exact.js";
import { fields, real, whole } from "../wire/fields.js";
export function kind(name, sizes, shape, make) {
    return (content) => {
        const settings = fields(content, name, { epsilon: real, size: whole, ...shape });
        const { epsilon, size } = settings;
        checkEpsilon(epsilon);
        need(size >= sizes[0] && size <= sizes[1], `this mechanism serves from ${sizes[0]} to ${sizes[1]} values`);
        const made = make(settings);
        checkRatio(made.ratio, epsilon);
        return {
            instantaneous: (packed) => packed,
            ...made,
            kind: name,
            epsilon,
            size,
            permanent(index, random) {
                if (!(index >= 0 && index < size))
                    throw new DomainError("an index must lie in the mechanism's domain");
                return made.permanent(index, random);
            },
        };
    };
}
export function checkRatio(ratio, epsilon) {
    const [top, bottom] = ratio;
    need(top > bottom && bottom > 0n && within(ratio, epsilon), "these thresholds reveal nothing, or spend more than the stated epsilon");
}
