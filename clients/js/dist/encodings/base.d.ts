import type { Rng } from "../core/rng.js";
import type { Domain, Index } from "../domains/base.js";
import type { Ratio } from "../maths/exact.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Whole } from "../wire/fields.js";
export interface Encoding {
    readonly kind: string;
    outputs(domain: Domain): Whole;
    encode(index: Index, rng: Rng): Whole;
    worstRatio?(mechanism: Mechanism): Ratio;
}
