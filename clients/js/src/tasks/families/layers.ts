// One question for every layer of a table: a public coin picks how coarsely every column is asked.
//
// Members are all combinations of one of the widths of every column, the last changing fastest, and
// then of the rounding coins.  `rounding` says which coins there are:
// - none: no coin;
// - one: one group of members for each column of `groups`; half of its layers have the coin;
// - all: each of the coins is in a layer or not;
// - mirror: one group of members for each column of `groups`, which is doubled by its coin.
// The `first` members are left out.

import { MAX_DOCUMENT_MEMBERS } from "../../core/bounds.js";
import type { Reading } from "../../core/registry.js";
import { readMechanism } from "../../core/registry.js";
import { narrow } from "../../domains/base.js";
import type { Encoding } from "../../encodings/base.js";
import type { Layer } from "../../encodings/cell.js";
import { cell, CELLS_RULE, checkLayer, intervalCount } from "../../encodings/cell.js";
import { need } from "../../errors.js";
import { bitLength } from "../../maths/hashing.js";
import type { Mechanism } from "../../mechanisms/base.js";
import type { Json } from "../../wire/codec.js";
import { grouped } from "../../wire/codec.js";
import type { Whole } from "../../wire/fields.js";
import { list, readFields, text, whole } from "../../wire/fields.js";
import { Question } from "../question.js";
import type { Family } from "./base.js";

const ALIGNED_ABOVE = 1 << 20; // cells
const MAX_CELL_BITS = 62;
const SHAPE = {
  table: whole,
  columns: list(whole),
  sizes: list(whole),
  widths: list(list(whole)),
  most: whole,
  rounding: text,
  groups: list(whole),
  first: whole,
};

type Settings = ReturnType<typeof readSettings>;

/** The size of a mechanism, and the groups of bits that it permutes separately. */
interface Key {
  readonly size: Whole;
  readonly groups?: readonly number[];
}

export function read(document: Json, reading: Reading): Family {
  const settings = readSettings(document, reading);
  const { mechanisms, first, table } = settings;
  const ends = groupEnds(settings);
  const length = ends.at(-1)! - first;
  need(
    length >= 1 && length <= MAX_DOCUMENT_MEMBERS,
    `a table has from 1 to ${grouped(MAX_DOCUMENT_MEMBERS)} layers: ` +
      "fewer columns, or a larger fan-out",
  );
  reading.countMembers(length);
  checkSettings(settings);
  const byKey = new Map(mechanisms.map((mechanism) => [keyText(mechanism), mechanism]));
  const keys = layerKeys(settings, ends.length).slice(first);
  const mechanismOf = ({ size, groups }: Key): Mechanism | undefined =>
    byKey.get(keyText({ size, groups: groups! })) ?? byKey.get(keyText({ size }));
  const at = (index: number): Question => {
    const layer = (): Layer => aligned(layerOf(settings, ends, index + first), keys[index]!);
    return new Question(mechanismOf(keys[index]!)!, lazyCell(layer));
  };
  const firstMembers = new Map<Mechanism | undefined, number>();
  keys.forEach((key, index) => {
    const mechanism = mechanismOf(key);
    if (!firstMembers.has(mechanism)) firstMembers.set(mechanism, index);
  });
  need(
    firstMembers.size === mechanisms.length && !firstMembers.has(undefined),
    "`mechanisms` must have one entry for every number of cells",
  );
  return { length, at, representatives: [...firstMembers.values()].map(at), table };
}

function readSettings(document: Json, reading: Reading) {
  const mechanisms = list((content: Json) => readMechanism(content, reading));
  const { first, ...settings } = readFields(document, "layers", { ...SHAPE, mechanisms });
  const { rounding, groups, widths, columns } = settings;
  need(
    /^(none|one|all|mirror)$/.test(rounding),
    "`rounding` must be one of none, one, all, mirror",
  );
  need(
    !groups.length === (rounding === "none"),
    "`groups` must name columns if, and only if, there is a `rounding`",
  );
  need(groups.length <= columns.length, "`groups` must have at most one entry per column");
  need(first === 0 || first === 1, "`first` must be 0 or 1");
  need(columns.length, "`columns` must not be empty");
  need(widths.length === columns.length, "`widths` must have one list per column");
  need(
    widths.every((choices) => choices.length),
    "`widths` must have at least one entry for every column",
  );
  const known = new Set(columns);
  need(
    groups.every((column) => known.has(column)),
    "`groups` must be among `columns`",
  );
  return { ...settings, first };
}

/** Refuses columns, sizes, widths and coins that no layer can have. */
function checkSettings(settings: Settings): void {
  const { table, columns, sizes, widths, most, rounding, groups } = settings;
  need(
    widths.every((choices) => choices.every((width) => width >= 1)),
    "`widths` must be at least 1",
  );
  checkLayer({
    ...{ table, columns, sizes, most, weighted: false, mirrored: [], aligned: false },
    widths: widths.map((choices) => choices[0]!),
    rounded: rounding === "all" ? groups : [],
  });
}

/** Returns, for every group of members, how many members it and those before it have. */
function groupEnds({ columns, widths, rounding, groups }: Settings): number[] {
  const choices = widths.map((list) => list.length);
  const all = choices.reduce((result, count) => result * count, 1);
  if (rounding === "none") return [all];
  if (rounding === "all") return [all * 2 ** groups.length];
  const counts = new Map(columns.map((column, i) => [column, choices[i]!]));
  let end = 0;
  return groups.map((own) => {
    const count = counts.get(own)!;
    end += rounding === "one" ? 2 * all : (all / count) * (count + 1);
    return end;
  });
}

/** Returns the key of every layer, without making the layer. */
function layerKeys(settings: Settings, groupCount: number): Key[] {
  const { columns, sizes, widths, rounding, groups } = settings;
  const plain = columns.map((_, i) =>
    widths[i]!.map((width) => factorOf(intervalCount(sizes[i]!, width, false))),
  );
  // A column that is always one interval changes no key; more than 62 others are too many cells.
  const isSingle = (factors: Factor[]): boolean => factors.length === 1 && factors[0]!.count === 1;
  const relevant = [...plain.keys()].filter((i) => !isSingle(plain[i]!));
  const places = new Map(columns.map((column, i) => [column, i]));
  const keys: Key[] = [];
  for (let group = 0; group < groupCount; group++) {
    const own = rounding === "mirror" ? places.get(groups[group]!)! : -1;
    const isRelevant = own < 0 || relevant.includes(own);
    const factors = isRelevant ? relevant : [...relevant, own].sort(byNumber);
    const doubled = own < 0 ? [] : [NO_CHOICE, ...plain[own]!.map(twice)];
    const lists = factors.map((i) => (i === own ? doubled : plain[i]!));
    for (const chosen of combinations(lists))
      for (const coins of coinCounts(settings)) keys.push(keyOf(chosen, coins));
  }
  return keys;
}

/** How many intervals a column has, and how many bits they take. */
interface Factor {
  readonly count: number;
  readonly bits: number;
}

const NO_CHOICE: Factor = { count: 1, bits: 0 };

function factorOf(count: bigint): Factor {
  return { count: Number(count), bits: count > 1n ? bitLength(count - 1n) : 0 };
}

function twice({ count, bits }: Factor): Factor {
  return { count: 2 * count, bits: bits + 1 };
}

function byNumber(left: number, right: number): number {
  return left - right;
}

/** Yields all ways to choose one entry of every list, the last changing fastest. */
function* combinations<T>(lists: readonly (readonly T[])[]): Generator<readonly T[]> {
  const digits = lists.map(() => 0);
  for (;;) {
    yield lists.map((list, i) => list[digits[i]!]!);
    let last = lists.length - 1;
    while (last >= 0 && digits[last] === lists[last]!.length - 1) digits[last--] = 0;
    if (last < 0) return;
    digits[last]! += 1;
  }
}

/** Returns, for every choice of rounding coins, how many coins a layer has. */
function coinCounts({ most, rounding, groups }: Settings): number[] {
  const choices = rounding === "all" ? groups.length : +(rounding === "one");
  return Array.from({ length: 2 ** choices }, (_, chosen) => {
    const rounded = bitCount(chosen);
    const isWeighted = Boolean(most) && (rounding === "none" || rounded > 0);
    return rounded + +isWeighted;
  });
}

function bitCount(number: number): number {
  return number.toString(2).replaceAll("0", "").length;
}

/** Returns the key of a layer with these numbers of intervals and so many coins. */
function keyOf(factors: readonly Factor[], coins: number): Key {
  const cells = factors.reduce((product, { count }) => product * count, 2 ** coins);
  if (cells <= ALIGNED_ABOVE) return { size: Math.max(cells, 2), groups: [] };
  const bits = [...factors.map((factor) => factor.bits), ...Array<number>(coins).fill(1)];
  const sum = bits.reduce((total, count) => total + count, 0);
  need(sum <= MAX_CELL_BITS, CELLS_RULE);
  const groups = bits.filter(Boolean).sort(byNumber).reverse();
  return { size: narrow(1n << BigInt(sum)), groups };
}

/** Returns the layer of a member. */
function layerOf(settings: Settings, ends: readonly number[], member: number): Layer {
  const { table, columns, sizes, most, rounding, groups } = settings;
  const group = ends.findIndex((end) => member < end);
  const own = rounding === "all" ? groups : groups.slice(group, group + 1);
  const mirrored = rounding === "mirror" ? own : [];
  const choices = settings.widths.map((list, i) =>
    mirrored.includes(columns[i]!) ? [0, ...list] : list,
  );
  const coins = rounding === "one" || rounding === "all" ? own.map(() => 2) : [];
  const radices = [...choices.map((list) => list.length), ...coins];
  const digits = digitsOf(member - (ends[group - 1] ?? 0), radices);
  const rounded = own.filter((_, i) => digits[columns.length + i]);
  const widths = choices.map((list, i) => list[digits[i]!]!);
  const weighted = Boolean(most) && (rounding === "none" || rounded.length > 0);
  return { table, columns, sizes, widths, most, weighted, rounded, mirrored, aligned: false };
}

/** Returns the digits of a number in mixed radix; the last changes fastest. */
function digitsOf(number: number, radices: readonly number[]): number[] {
  const digits = radices.map(() => 0);
  for (let i = radices.length - 1; i >= 0; i--) {
    digits[i] = number % radices[i]!;
    number = Math.floor(number / radices[i]!);
  }
  return digits;
}

/** Returns the layer; a large one has whole bits for every column, so that it can be decoded. */
function aligned(layer: Layer, { groups }: Key): Layer {
  return { ...layer, aligned: groups!.length > 0 };
}

/** Returns the encoding of a layer that is made when somebody is asked about it. */
function lazyCell(layer: () => Layer): Encoding {
  return {
    kind: "cell",
    outputs: (domain) => cell(layer()).outputs(domain),
    encode: (index, rng) => cell(layer()).encode(index, rng),
  };
}

function keyText({ size, groups = [] }: Key): string {
  return `${size}:${groups}`;
}
