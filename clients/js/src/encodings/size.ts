// How many candidates somebody has: asked before it is decided how far sets are padded.

import type { Json } from "../wire/codec.js";
import type { Domain } from "../domains/base.js";
import { narrow } from "../domains/base.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, list, whole } from "../wire/fields.js";

export const SHAPE = { items: whole, among: list(list(whole)) };

/** What people may have whole: sets of items, or where none is named every single item. */
export interface Candidates {
  readonly items: Whole;
  readonly among: readonly (readonly Whole[])[];
}

export function size(content: Json): Encoding {
  const asked = checked(fields(content, "size", SHAPE));
  return {
    outputs: (domain) => narrow(BigInt(number(asked, domain)) + 1n),
    encode: (index) => held(asked, index as Whole[]).length,
  };
}

export function checked<C extends Candidates>(asked: C): C {
  const { items, among } = asked;
  need(items >= 2, "a set is of at least two items");
  need(
    among.every((one) => one.length && one.every((item, i) => item < items && item > (i ? one[i - 1]! : -1))),
    "a candidate lists the items of one set, each once and in ascending order",
  );
  need(new Set(among.map(String)).size === among.length, "no two candidates are the same set");
  return asked;
}

/** Returns how many candidates there are; refuses a domain of other sets. */
export function number({ items, among }: Candidates, domain: Domain): Whole {
  need(domain.items === items, "this question asks about sets of other items than the domain has");
  return among.length || items;
}

/** Returns which candidates a set holds whole, by position, ascending. */
export function held({ among }: Candidates, set: readonly Whole[]): readonly Whole[] {
  if (!among.length) return set;
  const has = new Set(set);
  return among.flatMap((one, place) => (one.every((item) => has.has(item)) ? [place] : []));
}
