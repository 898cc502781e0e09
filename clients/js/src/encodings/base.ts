// The contract of an encoding: what a device computes from a value before it randomises it.

import type { Rng } from "../core/rng.js";
import type { Domain, Index } from "../domains/base.js";
import type { Ratio } from "../maths/exact.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Whole } from "../wire/fields.js";

export interface Encoding {
  readonly kind: string;
  /** Returns how many indices it yields for a domain; refuses a domain that it cannot encode. */
  outputs(domain: Domain): Whole;
  /** Returns what the mechanism randomises; draws only from `rng`. */
  encode(index: Index, rng: Rng): Whole;
  /** Returns the worst ratio of encoding and mechanism together, if it is not the mechanism's. */
  worstRatio?(mechanism: Mechanism): Ratio;
}
