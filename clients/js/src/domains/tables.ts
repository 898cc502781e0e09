// Tables about the same people: each holds one record per person, or a list of records.
// Public columns are sent in clear, beside the randomised reports.

import { utf8 } from "../bytes.js";
import { readDomain } from "../core/registry.js";
import { need, ParameterError } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { list, readFields, text } from "../wire/fields.js";
import type { Domain, PersonTables } from "./base.js";
import { narrow, randomIndex } from "./base.js";
import { entriesOf } from "./records.js";

const PERSON = "uid"; // the only column that tables have in common
const MAX_PUBLIC = 4096; // bytes of the public columns of one person
const COLUMN_RULE = "a column must be categories, dates, integers, numbers or buckets";
const LONGEST_NUMBER = "-1.7976931348623157e+308";

type Columns = Required<Pick<Domain, "names" | "attributes">>;
type Values = Record<string, unknown>;

/** One table: its name, its columns, and the names of those that are public. */
interface Part {
  readonly name: string;
  readonly table: Domain;
  readonly columns: Columns;
  readonly publicNames: readonly string[];
}

export function read(document: Json): Domain {
  const shape = { names: list(text), tables: list(readDomain), public: readDomain };
  const { names, tables, public: open } = readFields(document, "services", shape, ["public"]);
  need(names.length, "`names` of tables must not be empty");
  need(names.length === tables.length, "`tables` must have one entry per name");
  need(!open || open.names, "`public` must be a domain of records");
  const publicColumns = (open ?? { names: [], attributes: [] }) as Columns;
  const publicBytes = longestPublicPart(publicColumns);
  const parts = names.map((name, i) => partOf(name, tables[i]!, publicColumns));
  checkTables(parts, publicColumns);
  const person = (indices: unknown[], values: Values) => ({
    tables: indices as Whole[][],
    public: open && publicJson(publicColumns, values),
  });
  return {
    facts: { kind: "services", names },
    get size(): Whole {
      throw new ParameterError("a question about tables needs an `encoding`");
    },
    tables: parts.map(({ name, table, columns }) => ({
      name,
      most: table.most ?? 0,
      attributes: columns.attributes,
    })),
    publicNames: publicColumns.names,
    publicBytes,
    index(value) {
      const entries = names.length === 1 ? [value] : entriesOf(value, names, "tables");
      const publicValues: Values = {};
      const indices = parts.map((part, i) => indexOf(part, entries[i], publicValues));
      return person(indices, publicValues);
    },
    randomIndex(rng) {
      const indices = tables.map((table) => randomIndex(table, rng));
      const values = publicColumns.attributes.map((column) =>
        column.valueAt!(randomIndex(column, rng) as Whole),
      );
      const entries = publicColumns.names.map((name, i) => [name, values[i]]);
      return person(indices, Object.fromEntries(entries));
    },
    withPublicPart(index, value) {
      try {
        const records = names.length === 1 ? { [names[0]!]: value } : value;
        const entries = publicColumns.names.map((name) => {
          const [table, column] = name.split(".") as [string, string];
          return [name, (records as Record<string, Values>)[table]![column]];
        });
        return person((index as PersonTables).tables as unknown[], Object.fromEntries(entries));
      } catch {
        return index;
      }
    },
  };
}

function partOf(name: string, table: Domain, publicColumns: Columns): Part {
  const publicNames = publicColumns.names.filter((column) => column.startsWith(`${name}.`));
  return { name, table, columns: (table.records ?? table) as Columns, publicNames };
}

/** Returns the indices of one table, and enters its public values. */
function indexOf(part: Part, value: unknown, publicValues: Values): unknown {
  const { name, table, columns, publicNames } = part;
  if (!publicNames.length) return table.index(value);
  const ownNames = publicNames.map((column) => column.slice(name.length + 1));
  const entries = entriesOf(value, [...ownNames, ...columns.names], "attributes");
  publicNames.forEach((column, i) => (publicValues[column] = entries[i]));
  return columns.attributes.map((attribute, i) => attribute.index(entries[publicNames.length + i]));
}

function checkTables(parts: readonly Part[], publicColumns: Columns): void {
  need(
    parts.every(({ columns }) => columns.names),
    "`tables` must be domains of records or of lists",
  );
  need(
    parts.every(({ columns }) => columns.attributes.every(isColumn)),
    COLUMN_RULE,
  );
  checkNames(parts.map(({ name }) => name));
  const owners = publicColumns.names.map((name) => name.split(".", 1)[0]!);
  for (const { name, columns } of parts) {
    const own = publicColumns.names.filter((_, i) => owners[i] === name);
    checkNames([...columns.names, ...own.map((column) => column.replace(/^[^.]*\.?/, ""))]);
  }
  const single = new Set(parts.filter(({ table }) => !table.records).map(({ name }) => name));
  need(
    owners.every((owner) => single.has(owner)),
    "a name in `public` must be 'table.column', of a table with one record per person",
  );
}

/** Returns the most bytes that the public columns of one person may take. */
function longestPublicPart({ names, attributes }: Columns): number {
  need(attributes.every(isColumn), COLUMN_RULE);
  const lengths = names.map((name, i) => longestJson(name, attributes[i]!));
  const bytes = lengths.reduce((total, length) => total + length, 0);
  need(bytes <= MAX_PUBLIC, `\`public\` columns must take at most ${MAX_PUBLIC} bytes together`);
  return bytes;
}

/** Returns the most bytes that a public column may take. */
function longestJson(name: string, column: Domain): number {
  const { size, valueAt } = column;
  const ends = [valueAt!(0), valueAt!(narrow(BigInt(size) - 1n))];
  const longest = column.facts.kind === "dates" ? (ends[1] as string) : LONGEST_NUMBER;
  const labels = column.labels ?? [longest];
  need(
    ends.every((end) => typeof end !== "bigint" || Number.isSafeInteger(Number(end))),
    "public whole numbers lie between -2^53 and 2^53",
  );
  const lengths = labels.map((label) => utf8(JSON.stringify(label)).length);
  return lengths.reduce((longest, length) => Math.max(longest, length), 0) + name.length + 8;
}

function isColumn(domain: Domain): boolean {
  return domain.publicJson !== undefined;
}

function checkNames(names: readonly string[]): void {
  const folded = new Set(names.map((name) => name.toLowerCase()));
  need(
    names.every((name) => /^[a-z_][a-z0-9_]{0,62}$/i.test(name)),
    "names of tables and columns must be 1 to 63 letters, digits and _, not beginning with a digit",
  );
  need(folded.size === names.length, "names of tables and columns must differ by more than case");
  need(!folded.has(PERSON), `no table or column may be called '${PERSON}'`);
}

/** Returns the public values as canonical JSON; real numbers are written as decimal text. */
function publicJson({ names, attributes }: Columns, values: Values): string {
  const entries = names.map(
    (name, i) => `${JSON.stringify(name)}:${attributes[i]!.publicJson!(values[name])}`,
  );
  return `{${entries.sort()}}`;
}
