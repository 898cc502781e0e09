// Several attributes of a record as one value: a cell of their table.

import type { Json } from "../wire/codec.js";
import type { Domain, Index } from "../domains/base.js";
import { narrow } from "../domains/base.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, list, whole } from "../wire/fields.js";

export const SHAPE = { columns: list(whole), sizes: list(whole) };

/** Some columns of a record, and how many values each has. */
export interface Columns {
  readonly columns: readonly Whole[];
  readonly sizes: readonly Whole[];
}

export function view(content: Json): Encoding {
  return cell(fields(content, "view", SHAPE));
}

/** Yields the cell of the columns' table, the first column changing slowest. */
export function cell(asked: Columns): Encoding {
  const { columns, sizes } = checked(asked);
  need(cells(sizes) <= 1n << 62n, "the table of a view has at most 2^62 cells");
  return {
    outputs(domain) {
      checkAttributes(asked, domain);
      return narrow(cells(sizes));
    },
    encode(index) {
      const place = (cell: bigint, column: Whole, i: number) => cell * BigInt(sizes[i]!) + held(index, column);
      return narrow(columns.reduce(place, 0n));
    },
  };
}

export function checked<C extends Columns>(asked: C): C {
  const { columns, sizes } = asked;
  need(
    columns.length && columns.length === sizes.length && sizes.every((size) => size >= 2),
    "a view has at least one column, and for each its number of values, at least 2",
  );
  const ascending = columns.every((column, i) => column > (i ? columns[i - 1]! : -1));
  need(ascending, "the columns of a view are in ascending order, each once");
  return asked;
}

/** Refuses a domain whose records have other attributes than these. */
export function checkAttributes({ columns, sizes }: Columns, domain: Domain): void {
  need(
    columns.every((column, i) => domain.attributes?.[Number(column)]?.size === sizes[i]),
    "this question asks about attributes that the domain does not have, or that have another size there",
  );
}

/** Returns how many cells the table of attributes has. */
export function cells(sizes: readonly Whole[]): bigint {
  return sizes.reduce((all: bigint, size) => all * BigInt(size), 1n);
}

/** Returns what a record holds in a column. */
export function held(record: Index, column: Whole): bigint {
  return BigInt((record as Whole[])[Number(column)]!);
}
