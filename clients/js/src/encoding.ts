// What a client computes before it randomises, as data that travels in the task.

import type { Domain, Index } from "./domain.js";
import type { Ratio } from "./exact.js";
import type { Whole } from "./fields.js";
import type { Mechanism } from "./mechanism.js";
import type { Random } from "./random.js";

export interface Encoding {
  /** Returns how many indices it yields for a domain; refuses a domain that it cannot read. */
  outputs(domain: Domain): Whole;
  /** Returns what the mechanism randomises; draws only from `random`. */
  encode(index: Index, random: Random): Whole;
  /** Returns the largest ratio of the chances of one report, end to end; without it that of the mechanism. */
  ratio?(mechanism: Mechanism): Ratio;
}
