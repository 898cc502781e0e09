// One question for every layer of a table: a public coin picks how coarsely every column is asked.
//
// Members are all combinations of one of the widths of every column, the last changing fastest, and
// then of the rounding coins.  `rounding` says which coins there are:
// - none: no coin;
// - one: one group of members for each column of `groups`; half of its layers have the coin;
// - all: each of the coins is in a layer or not;
// - mirror: one group of members for each column of `groups`, which is doubled by its coin.
// The `first` members are left out.

import { readMechanism } from "../../core/registry.js";
import type { Extent, Layer } from "../../encodings/cell.js";
import { cell, extentOf } from "../../encodings/cell.js";
import { need } from "../../errors.js";
import type { Mechanism } from "../../mechanisms/base.js";
import type { Json } from "../../wire/codec.js";
import type { Whole } from "../../wire/fields.js";
import { list, readFields, text, whole } from "../../wire/fields.js";
import { Question } from "../question.js";
import type { Family } from "./base.js";

const ALIGNED_ABOVE = 1n << 20n; // cells
const MAX_LAYERS = 1 << 17;
const SHAPE = {
  table: whole,
  columns: list(whole),
  sizes: list(whole),
  widths: list(list(whole)),
  mechanisms: list(readMechanism),
  most: whole,
  rounding: text,
  groups: list(whole),
  first: whole,
};

type Settings = ReturnType<typeof readSettings>;
interface SizedLayer {
  readonly layer: Layer;
  readonly extent: Extent;
}

export function read(document: Json): Family {
  const settings = readSettings(document);
  const { mechanisms, first } = settings;
  const radices = groupRadices(settings);
  const length = radices.reduce((sum, group) => sum + product(group), 0) - first;
  need(
    length >= 1 && length <= MAX_LAYERS,
    `a table must have from 1 to ${MAX_LAYERS} layers: ask for fewer columns or a larger fan-out`,
  );
  const byKey = new Map(mechanisms.map((mechanism) => [keyOf(mechanism), mechanism]));
  const layerAt = (index: number): SizedLayer =>
    alignLarge(layerOf(settings, radices, index + first));
  const at = (index: number): Question => {
    const { layer, extent } = layerAt(index);
    return new Question(mechanismFor(extent, byKey)!, cell(layer));
  };
  const firstMembers = new Map<Mechanism | undefined, number>();
  for (let index = 0; index < length; index++) {
    const mechanism = mechanismFor(layerAt(index).extent, byKey);
    if (!firstMembers.has(mechanism)) firstMembers.set(mechanism, index);
  }
  need(
    firstMembers.size === mechanisms.length && !firstMembers.has(undefined),
    "`mechanisms` must have one entry for every number of cells",
  );
  const representatives = [...firstMembers.values()].map(at);
  return { length, at, representatives, table: settings.table };
}

function readSettings(document: Json) {
  const { first, ...settings } = readFields(document, "layers", SHAPE);
  const { rounding, groups, widths, columns } = settings;
  need(
    /^(none|one|all|mirror)$/.test(rounding),
    "`rounding` must be one of none, one, all, mirror",
  );
  need(
    !groups.length === (rounding === "none"),
    "`groups` must name columns if, and only if, there is a `rounding`",
  );
  need(first === 0 || first === 1, "`first` must be 0 or 1");
  need(widths.length === columns.length, "`widths` must have one list per column");
  need(
    widths.every((choices) => choices.length),
    "`widths` must have at least one entry for every column",
  );
  need(
    rounding !== "mirror" || groups.every((column) => columns.includes(column)),
    "`groups` must be among `columns`",
  );
  return { ...settings, first };
}

/** Returns, for every group of members, how many choices there are for each column and coin. */
function groupRadices({ columns, widths, rounding, groups }: Settings): number[][] {
  const choices = widths.map((list) => list.length);
  if (rounding === "mirror")
    return groups.map((own) => choices.map((count, i) => count + +(columns[i] === own)));
  const coins = { none: 0, one: 1, all: groups.length }[rounding]!;
  const radices = [...choices, ...Array<number>(coins).fill(2)];
  return rounding === "one" ? groups.map(() => radices) : [radices];
}

function product(numbers: readonly number[]): number {
  return numbers.reduce((result, number) => result * number, 1);
}

/** Returns the layer of a member. */
function layerOf(settings: Settings, radices: number[][], member: number): Layer {
  const { table, columns, sizes, most, rounding, groups } = settings;
  let group = 0;
  while (member >= product(radices[group]!)) member -= product(radices[group++]!);
  const digits = digitsOf(member, radices[group]!);
  const coins = rounding === "all" ? groups : groups.slice(group, group + 1);
  const mirrored = rounding === "mirror" ? coins : [];
  const rounded = coins.filter((_, i) => digits[columns.length + i]);
  const widths = settings.widths.map((choices, i) => {
    const isMirrored = mirrored.includes(columns[i]!);
    return (isMirrored ? [0, ...choices] : choices)[digits[i]!]!;
  });
  const weighted = Boolean(most) && (rounding === "none" || rounded.length > 0);
  return { table, columns, sizes, widths, most, weighted, rounded, mirrored, aligned: false };
}

/** Returns the digits of a number in mixed radix; the last changes fastest. */
function digitsOf(number: number, radices: readonly number[]): number[] {
  return radices.reduceRight<number[]>((digits, radix) => {
    digits.unshift(number % radix);
    number = Math.floor(number / radix);
    return digits;
  }, []);
}

/** Returns the layer; a large one has whole bits for every column, so that it can be decoded. */
function alignLarge(layer: Layer): SizedLayer {
  const extent = extentOf(layer);
  if (extent.cells <= ALIGNED_ABOVE) return { layer, extent };
  const aligned = { ...layer, aligned: true };
  return { layer: aligned, extent: extentOf(aligned) };
}

function mechanismFor(
  { cells, groups }: Extent,
  byKey: ReadonlyMap<string, Mechanism>,
): Mechanism | undefined {
  const size = cells < 2n ? 2n : cells;
  return byKey.get(keyOf({ size, groups })) ?? byKey.get(keyOf({ size }));
}

function keyOf({ size, groups = [] }: { size: Whole; groups?: readonly number[] }): string {
  return `${size}:${groups}`;
}
