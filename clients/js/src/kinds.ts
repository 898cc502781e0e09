// Kinds of mechanisms, encodings and domains by name, loaded when a document first names them.
// A released kind never changes meaning; new behaviour is a new kind.

import type { Json } from "./canonical.js";
import type { Domain } from "./domain.js";
import type { Encoding } from "./encoding.js";
import { need } from "./errors.js";
import { kindOf } from "./fields.js";
import type { Mechanism } from "./mechanism.js";

type Homes = Record<string, () => Promise<object>>;

const unary = () => import("./mechanisms/unary.js");
const olh = () => import("./mechanisms/olh.js");
const affine = () => import("./mechanisms/affine.js");
const window = () => import("./mechanisms/window.js");
const range = () => import("./domains/range.js");

const MECHANISMS: Homes = {
  grr: () => import("./mechanisms/grr.js"),
  sue: unary,
  oue: unary,
  the: unary,
  blh: olh,
  olh,
  rmp: olh,
  affine,
  affine_prefix: affine,
  bloom: () => import("./mechanisms/bloom.js"),
  hadamard: () => import("./mechanisms/hadamard.js"),
  subset: () => import("./mechanisms/subset.js"),
  duchi: window,
  piecewise: window,
  square_wave: window,
  hybrid: () => import("./mechanisms/hybrid.js"),
};
const ENCODINGS: Homes = {
  attribute: () => import("./encodings/attribute.js"),
  alpha_point: () => import("./encodings/alpha_point.js"),
};
const DOMAINS: Homes = {
  categories: () => import("./domains/categories.js"),
  integers: () => import("./domains/integers.js"),
  numbers: range,
  buckets: range,
  records: () => import("./domains/records.js"),
};
const HOMES = { ...MECHANISMS, ...ENCODINGS, ...DOMAINS };
const LOADED: Record<string, (content: Json) => any> = {};

/** Loads the kinds that a round or a domain names; they stand at most 8 levels deep. */
export async function load(content: Json, depth = 8): Promise<void> {
  const kind = kindOf(content);
  if (Object.hasOwn(HOMES, kind)) Object.assign(LOADED, await HOMES[kind]!());
  if (depth && typeof content === "object")
    for (const part of Object.values(content ?? {})) await load(part, depth - 1);
}

/** Returns the mechanism in a document; one that spends more than it states is refused. */
export const readMechanism: (content: Json) => Mechanism = reader("mechanism", MECHANISMS);
export const readEncoding: (content: Json) => Encoding = reader("encoding", ENCODINGS);
export const readDomain: (content: Json) => Domain = reader("domain", DOMAINS);

function reader(family: string, homes: Homes) {
  return (content: Json) => {
    const kind = kindOf(content);
    const read = Object.hasOwn(homes, kind) && LOADED[kind];
    need(read, `unknown kind of ${family}`);
    return read(content);
  };
}
