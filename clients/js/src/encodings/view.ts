// Several attributes of a record as one value: a cell of their table.

import type { Domain, Index } from "../domains/base.js";
import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { list, readFields, whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";

const SHAPE = { columns: list(whole), sizes: list(whole) };
const MAX_CELLS = 1n << 62n;
const MAX_COLUMNS = 62;

/** Some columns of a record, and how many values each has. */
interface Columns {
  readonly columns: readonly Whole[];
  readonly sizes: readonly Whole[];
}

export function read(document: Json): Encoding {
  return view(readFields(document, "view", SHAPE));
}

/** Yields the cell of the columns' table; the first column changes slowest. */
export function view(asked: Columns): Encoding {
  checkColumns(asked);
  const { columns, sizes } = asked;
  const cells = cellCount(sizes);
  need(cells <= MAX_CELLS, "a view must have at most 2^62 cells");
  return {
    kind: "view",
    outputs(domain) {
      checkAttributes(asked, domain);
      return narrow(cells);
    },
    encode(index) {
      let cell = 0n;
      columns.forEach((column, i) => (cell = cell * BigInt(sizes[i]!) + valueOf(index, column)));
      return narrow(cell);
    },
  };
}

function checkColumns({ columns, sizes }: Columns): void {
  // Each column has at least two values, so that more columns have more cells.
  need(
    columns.length && columns.length <= MAX_COLUMNS,
    `\`columns\` must have from 1 to ${MAX_COLUMNS} entries`,
  );
  need(columns.length === sizes.length, "`sizes` must have one entry per column");
  need(
    sizes.every((size) => size >= 2),
    "`sizes` must be at least 2",
  );
  need(
    columns.every((column, i) => column > (i ? columns[i - 1]! : -1)),
    "`columns` must be in ascending order, each once",
  );
}

/** Refuses a domain whose records have other attributes than these. */
function checkAttributes({ columns, sizes }: Columns, domain: Domain): void {
  need(
    columns.every((column, i) => domain.attributes?.[Number(column)]?.size === sizes[i]),
    "`columns` and `sizes` must be those of attributes of the task's domain",
  );
}

/** Returns how many cells the table of attributes of these sizes has. */
export function cellCount(sizes: readonly Whole[]): bigint {
  return sizes.reduce((product: bigint, size) => product * BigInt(size), 1n);
}

/** Returns the value of a record in a column. */
function valueOf(record: Index, column: Whole): bigint {
  return BigInt((record as Whole[])[Number(column)]!);
}
