// How many candidates a person holds; asked before the length is chosen to which sets are padded.

import { MAX_CANDIDATES } from "../core/bounds.js";
import type { Domain } from "../domains/base.js";
import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { list, readFields, whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";

export const SHAPE = { items: whole, among: list(list(whole)) };

/** The sets of items that a person may hold whole; without any, every single item. */
export interface Candidates {
  readonly items: Whole;
  readonly among: readonly (readonly Whole[])[];
}

export function read(document: Json): Encoding {
  const candidates = readFields(document, "size", SHAPE);
  checkCandidates(candidates);
  return {
    kind: "size",
    outputs: (domain) => narrow(BigInt(candidateCount(candidates, domain)) + 1n),
    encode: (index) => heldCandidates(candidates, index as Whole[]).length,
  };
}

export function checkCandidates({ items, among }: Candidates): void {
  need(items >= 2, "`items` must be at least 2");
  need(
    among.length <= MAX_CANDIDATES,
    `\`among\` must have from 0 to ${MAX_CANDIDATES} entries, not ${among.length}`,
  );
  const isSet = (candidate: readonly Whole[]): boolean =>
    candidate.every((item, i) => item < items && item > (i ? candidate[i - 1]! : -1));
  need(
    among.every((candidate) => candidate.length && isSet(candidate)),
    "`among` must list sets of items, each item once and in ascending order",
  );
  const different = new Set(among.map(String)).size;
  need(different === among.length, "`among` must not list a set twice");
}

/** Returns how many candidates there are; refuses a domain of sets of other items. */
export function candidateCount({ items, among }: Candidates, domain: Domain): Whole {
  need(domain.items === items, "`items` must be the number of items of the task's domain");
  return among.length || items;
}

/** Returns the indices of the candidates that a set holds whole, in ascending order. */
export function heldCandidates({ among }: Candidates, set: readonly Whole[]): readonly Whole[] {
  if (!among.length) return set;
  const members = new Set(set);
  return [...among.keys()].filter((i) => among[i]!.every((item) => members.has(item)));
}
