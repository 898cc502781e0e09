// Kinds of mechanisms, encodings, families and domains by name, loaded when a document first names them.
// A released kind never changes meaning; new behaviour is a new kind.

import type { Json } from "../wire/codec.js";
import type { Domain } from "../domains/base.js";
import type { Encoding } from "../encodings/base.js";
import { need } from "../errors.js";
import { kindOf } from "../wire/fields.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Family } from "../tasks/notice.js";

type Homes = Record<string, () => Promise<any>>;

const unary = () => import("../mechanisms/unary.js");
const olh = () => import("../mechanisms/olh.js");
const affine = () => import("../mechanisms/affine.js");
const window = () => import("../mechanisms/window.js");
const range = () => import("../domains/real_range.js");

const MECHANISMS: Homes = {
  grr: () => import("../mechanisms/grr.js"),
  sue: unary,
  oue: unary,
  the: unary,
  blh: olh,
  olh,
  rmp: olh,
  affine,
  affine_prefix: affine,
  bloom: () => import("../mechanisms/bloom.js"),
  hadamard: () => import("../mechanisms/hadamard.js"),
  subset: () => import("../mechanisms/subset.js"),
  duchi: window,
  piecewise: window,
  square_wave: window,
  hybrid: () => import("../mechanisms/hybrid.js"),
};
const ENCODINGS: Homes = {
  attribute: () => import("../encodings/attribute.js"),
  segment: () => import("../encodings/segment.js"),
  sample: () => import("../encodings/sample.js"),
  size: () => import("../encodings/size.js"),
  holds: () => import("../encodings/holds.js"),
  view: () => import("../encodings/view.js"),
  cell: () => import("../encodings/cell.js"),
};
const FAMILIES: Homes = {
  each_item: () => import("../tasks/families/each_item.js"),
  views: () => import("../tasks/families/views.js"),
  layers: () => import("../tasks/families/layers.js"),
};
const DOMAINS: Homes = {
  categories: () => import("../domains/categories.js"),
  integers: () => import("../domains/integers.js"),
  numbers: range,
  buckets: range,
  records: () => import("../domains/records.js"),
  bits: () => import("../domains/bits.js"),
  strings: () => import("../domains/strings.js"),
  sets: () => import("../domains/sets.js"),
  lists: () => import("../domains/lists.js"),
  services: () => import("../domains/tables.js"),
};
const HOMES = { ...MECHANISMS, ...ENCODINGS, ...FAMILIES, ...DOMAINS };
const LOADED: Record<string, (content: Json) => any> = {};

/** Loads the kinds that a round or a domain names; they stand at most 8 levels deep. */
export async function load(content: Json, depth = 8): Promise<void> {
  const kind = kindOf(content);
  if (Object.hasOwn(HOMES, kind)) LOADED[kind] = (await HOMES[kind]!())[kind];
  if (depth && typeof content === "object")
    for (const part of Object.values(content ?? {})) if (typeof part === "object") await load(part, depth - 1);
}

/** Returns the mechanism in a document; one that spends more than it states is refused. */
export const readMechanism: (content: Json) => Mechanism = reader("mechanism", MECHANISMS);
export const readEncoding: (content: Json) => Encoding = reader("encoding", ENCODINGS);
export const readFamily: (content: Json) => Family = reader("family", FAMILIES);
export const readDomain: (content: Json) => Domain = reader("domain", DOMAINS);

function reader(family: string, homes: Homes) {
  return (content: Json) => {
    const kind = kindOf(content);
    const read = Object.hasOwn(homes, kind) && LOADED[kind];
    need(read, `unknown kind of ${family}`);
    return read(content);
  };
}
