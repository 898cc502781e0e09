// What a client computes before it randomises, as data that travels in the task.

import type { Domain, Index } from "../domains/base.js";
import type { Ratio } from "../maths/exact.js";
import type { Whole } from "../wire/fields.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Random } from "../core/rng.js";

export interface Encoding {
  /** Returns how many indices it yields for a domain; refuses a domain that it cannot read. */
  outputs(domain: Domain): Whole;
  /** Returns what the mechanism randomises; draws only from `random`. */
  encode(index: Index, random: Random): Whole;
  /** Returns the largest ratio of the chances of one report, end to end; without it that of the mechanism. */
  ratio?(mechanism: Mechanism): Ratio;
}
