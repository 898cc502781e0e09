import type { Domain, Index } from "../domains/base.js";
import type { Ratio } from "../maths/exact.js";
import type { Whole } from "../wire/fields.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Random } from "../core/rng.js";
export interface Encoding {
    outputs(domain: Domain): Whole;
    encode(index: Index, random: Random): Whole;
    ratio?(mechanism: Mechanism): Ratio;
}
