// The kinds of mechanisms, encodings, families, domains, and of choices and bundles by name.  The
// module of a kind is loaded when a document first names it, and exports `read`.
// A released kind never changes its meaning; new behaviour is a new kind.

import type { Domain } from "../domains/base.js";
import type { Encoding } from "../encodings/base.js";
import { need } from "../errors.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Family } from "../tasks/families/base.js";
import type { Ask } from "../tasks/question.js";
import type { Json } from "../wire/codec.js";
import { kindOf } from "../wire/fields.js";

type Reader = (document: Json, around: readonly string[]) => any;
type Kinds = Record<string, () => Promise<{ read: Reader }>>;

const MECHANISMS: Kinds = {
  affine: () => import("../mechanisms/affine.js"),
  affine_prefix: () => import("../mechanisms/affine_prefix.js"),
  blh: () => import("../mechanisms/blh.js"),
  bloom: () => import("../mechanisms/bloom.js"),
  duchi: () => import("../mechanisms/duchi.js"),
  grr: () => import("../mechanisms/grr.js"),
  hadamard: () => import("../mechanisms/hadamard.js"),
  hybrid: () => import("../mechanisms/hybrid.js"),
  olh: () => import("../mechanisms/olh.js"),
  oue: () => import("../mechanisms/oue.js"),
  piecewise: () => import("../mechanisms/piecewise.js"),
  rmp: () => import("../mechanisms/rmp.js"),
  square_wave: () => import("../mechanisms/square_wave.js"),
  subset: () => import("../mechanisms/subset.js"),
  sue: () => import("../mechanisms/sue.js"),
  the: () => import("../mechanisms/the.js"),
};
const ENCODINGS: Kinds = {
  attribute: () => import("../encodings/attribute.js"),
  cell: () => import("../encodings/cell.js"),
  holds: () => import("../encodings/holds.js"),
  sample: () => import("../encodings/sample.js"),
  segment: () => import("../encodings/segment.js"),
  size: () => import("../encodings/size.js"),
  view: () => import("../encodings/view.js"),
};
const FAMILIES: Kinds = {
  each_item: () => import("../tasks/families/each_item.js"),
  layers: () => import("../tasks/families/layers.js"),
  views: () => import("../tasks/families/views.js"),
};
const DOMAINS: Kinds = {
  bits: () => import("../domains/bits.js"),
  buckets: () => import("../domains/buckets.js"),
  categories: () => import("../domains/categories.js"),
  integers: () => import("../domains/integers.js"),
  lists: () => import("../domains/lists.js"),
  numbers: () => import("../domains/numbers.js"),
  records: () => import("../domains/records.js"),
  services: () => import("../domains/tables.js"),
  sets: () => import("../domains/sets.js"),
  strings: () => import("../domains/strings.js"),
};
const COMBINATORS: Kinds = {
  bundle: () => import("../tasks/bundle.js"),
  choice: () => import("../tasks/choice.js"),
};
const KINDS: Kinds = { ...MECHANISMS, ...ENCODINGS, ...FAMILIES, ...DOMAINS, ...COMBINATORS };
const READERS: Record<string, Reader> = {};
const MAX_DEPTH = 8;

/** Loads the kinds that a round or a domain names, down to 8 levels deep. */
export async function load(content: Json, depth = MAX_DEPTH): Promise<void> {
  const kind = kindOf(content);
  if (Object.hasOwn(KINDS, kind)) READERS[kind] = (await KINDS[kind]!()).read;
  if (!depth || typeof content !== "object") return;
  for (const part of Object.values(content ?? {}))
    if (typeof part === "object") await load(part, depth - 1);
}

/** Returns the mechanism in a document; refuses one that spends more than it states. */
export const readMechanism: (document: Json) => Mechanism = reader("mechanism", MECHANISMS);
export const readEncoding: (document: Json) => Encoding = reader("encoding", ENCODINGS);
export const readFamily: (document: Json) => Family = reader("family", FAMILIES);
export const readDomain: (document: Json) => Domain = reader("domain", DOMAINS);
/** Returns a choice or a bundle; `around` are the kinds of those that contain it. */
export const readCombinator: (document: Json, around: readonly string[]) => Ask = reader(
  "ask",
  COMBINATORS,
);

function reader(family: string, kinds: Kinds) {
  return (document: Json, around: readonly string[] = []) => {
    const kind = kindOf(document);
    const read = Object.hasOwn(kinds, kind) && READERS[kind];
    need(read, `unknown ${family} kind`);
    return read(document, around);
  };
}
