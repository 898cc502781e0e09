// The kinds of mechanisms, encodings, families, domains, of choices and bundles, and of what later
// rounds may be, by name.  The module of a kind is loaded when a document first names it, and
// exports `read`.
// A released kind never changes its meaning; new behaviour is a new kind.

import type { Domain } from "../domains/base.js";
import type { Encoding } from "../encodings/base.js";
import { CodecError, need } from "../errors.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Family } from "../tasks/families/base.js";
import type { Ask } from "../tasks/question.js";
import type { RoundLimits } from "../tasks/round_limits.js";
import type { Json } from "../wire/codec.js";
import { canonical, grouped } from "../wire/codec.js";
import { kindOf } from "../wire/fields.js";
import { MAX_DOCUMENT_MECHANISMS, MAX_DOCUMENT_MEMBERS } from "./bounds.js";

type Reader = (document: Json, reading: Reading) => any;
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
  dates: () => import("../domains/dates.js"),
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
const LIMITS: Kinds = { roundlimits: () => import("../tasks/round_limits.js") };
const KINDS: Kinds = {
  ...MECHANISMS,
  ...ENCODINGS,
  ...FAMILIES,
  ...DOMAINS,
  ...COMBINATORS,
  ...LIMITS,
};
const READERS: Record<string, Reader> = {};
const MAX_DEPTH = 8;

/** Loads the kinds that a part of a document names, down to 8 levels deep. */
export async function load(content: Json): Promise<void> {
  const named = new Set<string>();
  findKinds(content, named, MAX_DEPTH);
  for (const kind of named) READERS[kind] = (await KINDS[kind]!()).read;
}

function findKinds(content: Json, named: Set<string>, depth: number): void {
  const kind = kindOf(content);
  if (Object.hasOwn(KINDS, kind)) named.add(kind);
  if (!depth || typeof content !== "object") return;
  for (const part of Object.values(content ?? {}))
    if (typeof part === "object") findKinds(part, named, depth - 1);
}

/** What was read of one document so far: equal mechanisms and families are made once. */
export class Reading {
  readonly #made = new Map<string, unknown>();
  readonly #around: string[] = [];
  #mechanisms = 0;
  #members = 0;

  /** Reads the parts of a choice or a bundle, which contain no other one of its kind. */
  within<T>(kind: string, read: () => T): T {
    need(!this.#around.includes(kind), `a ${kind} must not contain another ${kind}`);
    this.#around.push(kind);
    const parts = read();
    this.#around.pop();
    return parts;
  }

  /** Returns what the content was read as before, or what `read` makes of it. */
  once<T>(content: Json, read: () => T): T {
    const text = canonical(content);
    if (!this.#made.has(text)) this.#made.set(text, read());
    return this.#made.get(text) as T;
  }

  countMechanism(): void {
    this.#mechanisms += 1;
    if (this.#mechanisms > MAX_DOCUMENT_MECHANISMS)
      throw new CodecError(
        `a document may have at most ${MAX_DOCUMENT_MECHANISMS} different mechanisms`,
      );
  }

  /** Counts the members of a family that are looked at one by one. */
  countMembers(count: number): void {
    this.#members += count;
    if (this.#members > MAX_DOCUMENT_MEMBERS)
      throw new CodecError(
        `the families of a document may have at most ${grouped(MAX_DOCUMENT_MEMBERS)} members`,
      );
  }
}

/** Returns the mechanism in a document; refuses one that spends more than it states. */
export function readMechanism(document: Json, reading = new Reading()): Mechanism {
  return reading.once(document, () => {
    const read = readerOf("mechanism", MECHANISMS, document);
    reading.countMechanism();
    return read(document, reading) as Mechanism;
  });
}

export function readFamily(document: Json, reading = new Reading()): Family {
  return reading.once(document, () => {
    const read = readerOf("family", FAMILIES, document);
    return read(document, reading) as Family;
  });
}

export function readEncoding(document: Json, reading = new Reading()): Encoding {
  return readerOf("encoding", ENCODINGS, document)(document, reading) as Encoding;
}

export function readDomain(document: Json, reading = new Reading()): Domain {
  return readerOf("domain", DOMAINS, document)(document, reading) as Domain;
}

/** Returns a choice or a bundle. */
export function readCombinator(document: Json, reading: Reading): Ask {
  return readerOf("ask", COMBINATORS, document)(document, reading) as Ask;
}

/** Returns what later rounds of a task may be. */
export function readRoundLimits(document: Json): RoundLimits {
  if (!Object.hasOwn(LIMITS, kindOf(document)))
    throw new CodecError("`rounds` must be of the kind roundlimits");
  return readerOf("limit", LIMITS, document)(document, new Reading()) as RoundLimits;
}

function readerOf(family: string, kinds: Kinds, document: Json): Reader {
  const kind = kindOf(document);
  const read = Object.hasOwn(kinds, kind) && READERS[kind];
  need(read, `unknown ${family} kind`);
  return read;
}
