import type { Domain, Index } from "./domain.js";
import type { Ratio } from "./exact.js";
import type { Whole } from "./fields.js";
import type { Mechanism } from "./mechanism.js";
import type { Random } from "./random.js";
export interface Encoding {
    outputs(domain: Domain): Whole;
    encode(index: Index, random: Random): Whole;
    ratio?(mechanism: Mechanism): Ratio;
}
