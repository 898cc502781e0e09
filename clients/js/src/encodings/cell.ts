// The cell of a record in a layer of intervals: for every column the interval that holds its value.
// Of a list one record is drawn, and a coin says whether it counts; a number may be rounded to an end of its range.

import type { Json } from "../wire/codec.js";
import type { Holdings } from "../domains/base.js";
import { below, narrow } from "../domains/base.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, flag, list, whole } from "../wire/fields.js";
import { bitLength } from "../maths/hashing.js";
import type { Random } from "../core/rng.js";

const MOST_CELLS = 1n << 62n;

export interface Layer {
  readonly table: Whole;
  readonly columns: readonly Whole[];
  readonly sizes: readonly Whole[];
  readonly widths: readonly Whole[];
  readonly most: Whole;
  readonly weighted: boolean;
  readonly rounded: readonly Whole[];
  readonly mirrored: readonly Whole[];
  readonly aligned: boolean;
}

/** How many values each factor has, the columns' intervals and then the coins; which is slowest; how many cells. */
export interface Extent {
  readonly factors: readonly bigint[];
  readonly order: readonly number[];
  /** The bits of the factors of an aligned cell, the fastest first. */
  readonly groups: readonly number[];
  readonly cells: bigint;
}

export function cell(content: Json): Encoding {
  const [one, some] = [whole, list(whole)];
  const shape = { table: one, columns: some, sizes: some, widths: some, most: one, rounded: some, mirrored: some };
  return cellOf(fields(content, "cell", { ...shape, weighted: flag, aligned: flag }));
}

/** Yields the cell, the first factor changing slowest; aligned, every factor has whole bits, the fewest slowest. */
export function cellOf(layer: Layer): Encoding {
  const { table, columns, sizes, most, aligned } = layer;
  const { factors, order, cells } = measured(layer);
  return {
    outputs(domain) {
      const asked = domain.tables?.[Number(table)];
      const there = asked && asked.most === most && columns.at(-1)! < asked.attributes.length;
      need(there, "this question asks about a table or columns that the domain does not have");
      need(
        columns.every((column, i) => asked.attributes[Number(column)]!.size === sizes[i]),
        "this question asks about columns of other sizes than the domain has",
      );
      return narrow(cells);
    },
    encode(index, random) {
      const parts = partsOf(layer, (index as Holdings).tables[Number(table)]!, random);
      const step = (place: number) => (aligned ? 1n << BigInt(bitsOf(factors[place]!)) : factors[place]!);
      return narrow(order.reduce((found, place) => found * step(place) + parts[place]!, 0n));
    },
  };
}

/** Returns how far a layer extends, or refuses one that cannot be. */
export function measured(layer: Layer): Extent {
  const { columns, sizes, widths, most, table, weighted, rounded, mirrored } = layer;
  need(
    [...columns, ...sizes, ...widths, ...rounded, ...mirrored, most, table].every((one) => one >= 0) &&
      columns.length &&
      columns.length === sizes.length &&
      columns.length === widths.length,
    "a cell is of at least one column, each with a size and a width",
  );
  need(
    ascending(columns) && sizes.every((size) => size >= 2),
    "the columns of a cell are in ascending order, each of at least two values",
  );
  need(
    [...rounded, ...mirrored].every((column) => columns.includes(column)) && mirrored.length <= 1,
    "rounded columns are among those of the cell, and at most one is mirrored",
  );
  need(!rounded.includes(mirrored[0]!), "a column has one rounding coin: it is mirrored or rounded");
  need(
    ascending(rounded) && (!weighted || most),
    "rounded columns are in ascending order, and only drawn records are weighed",
  );
  const extent = extentOf(layer);
  need(
    widths.every((width, i) => width || mirrored.includes(columns[i]!)) && extent.cells <= MOST_CELLS,
    "an interval covers at least one value, and a layer has at most 2^62 cells",
  );
  return extent;
}

function extentOf({ columns, sizes, widths, weighted, rounded, mirrored, aligned }: Layer): Extent {
  const coins = Array<bigint>(+weighted + rounded.length).fill(2n);
  const nodes = columns.map((column, i) => nodesOf(sizes[i]!, widths[i]!, mirrored.includes(column)));
  const factors = [...nodes, ...coins];
  const order = [...factors.keys()];
  if (!aligned) return { factors, order, groups: [], cells: factors.reduce((all, one) => all * one, 1n) };
  const bits = factors.map(bitsOf);
  order.sort((one, other) => bits[one]! - bits[other]!);
  const groups = order.map((place) => bits[place]!).filter(Boolean);
  return { factors, order, groups: groups.reverse(), cells: 1n << BigInt(bits.reduce((all, one) => all + one, 0)) };
}

/** Returns how many intervals a column has; one that is mirrored has its values twice, but everything once. */
function nodesOf(size: Whole, width: Whole, doubled: boolean): bigint {
  return width ? ((BigInt(size) - 1n) / BigInt(width) + 1n) * (doubled ? 2n : 1n) : 1n;
}

/** Returns the bits of a factor. */
function bitsOf(factor: bigint): number {
  return factor > 1n ? bitLength(factor - 1n) : 0;
}

function ascending(numbers: readonly Whole[]): boolean {
  return numbers.every((one, i) => !i || one > numbers[i - 1]!);
}

/** Returns the interval of every column, then the coins. */
function partsOf(layer: Layer, held: Whole[] | Whole[][], random: Random): bigint[] {
  const { columns, sizes, widths, most, weighted, rounded, mirrored } = layer;
  const { record, counts } = most ? drawn(layer, held as Whole[][], random) : alone(layer, held as Whole[]);
  const up = new Map<Whole, boolean>();
  for (const column of [...mirrored, ...rounded]) {
    const place = columns.indexOf(column);
    up.set(column, below(narrow(BigInt(sizes[place]!) - 1n), random) < record[place]!); // the mean is the value
  }
  const intervals = columns.map((column, i) => {
    const [value, size, width] = [record[i]!, BigInt(sizes[i]!), BigInt(widths[i]!)];
    if (!width) return 0n;
    if (!mirrored.includes(column)) return value / width;
    return up.get(column) ? (size - 1n) / width + 1n + value / width : (size - 1n - value) / width;
  });
  const coins = [...(weighted ? [counts] : []), ...rounded.map((column) => up.get(column)!)];
  return [...intervals, ...coins.map((coin) => BigInt(coin))];
}

/**
 * Returns one record and whether it counts; the same draws are made for everybody.  Of r records each is drawn with the
 * chance 1/r, and counts with the chance r/most: together 1/most.
 */
function drawn(layer: Layer, records: Whole[][], random: Random) {
  const place = random.integer(Math.max(records.length, 1));
  const made = layer.sizes.map((size) => BigInt(below(size, random)));
  const counts = below(layer.most, random) < records.length;
  return { record: records.length ? alone(layer, records[place]!).record : made, counts };
}

function alone({ columns }: Layer, record: Whole[]) {
  return { record: columns.map((column) => BigInt(record[Number(column)]!)), counts: false };
}
