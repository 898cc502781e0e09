// Records: several named attributes of one person.

import { MAX_COLUMN_NAME } from "../core/bounds.js";
import { readDomain } from "../core/registry.js";
import { plainTexts } from "../core/settings.js";
import { need, ParameterError } from "../errors.js";
import type { Json } from "../wire/codec.js";
import { isDocument } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { list, readFields, text } from "../wire/fields.js";
import type { Domain } from "./base.js";
import { refuse } from "./base.js";

export function read(document: Json): Domain {
  const shape = { names: list(text), attributes: list(readDomain) };
  const { names, attributes } = readFields(document, "records", shape);
  const known = new Set(names);
  need(names.length, "`names` of records must not be empty");
  need(known.size === names.length, "`names` of records must all be different");
  need(!known.has(""), "`names` of records must not be empty text");
  plainTexts("names", names, MAX_COLUMN_NAME);
  need(
    attributes.every(hasFlatIndex),
    "`attributes` must have values of at most 63 bits, and no parts of their own",
  );
  need(names.length === attributes.length, "`attributes` must have one entry per name");
  return {
    facts: { kind: "records", count: names.length },
    get size(): Whole {
      throw new ParameterError("a question about records needs an `encoding`");
    },
    attributes,
    names,
    index: (value) =>
      entriesOf(value, names, "attributes").map(
        (entry, i) => attributes[i]!.index(entry) as Whole,
      ),
  };
}

/** Returns whether the index of a value is one whole number of at most 63 bits. */
function hasFlatIndex(domain: Domain): boolean {
  const { attributes, records, tables, items } = domain;
  return !attributes && !records && !tables && !items && domain.size <= 2 ** 63;
}

/** Returns the entries of an object in the order of `names`; refuses other entries. */
export function entriesOf(value: unknown, names: readonly string[], what: string): unknown[] {
  const record = isDocument(value) ? value : {};
  const isComplete = names.every((name) => Object.hasOwn(record, name));
  if (!isComplete || Object.keys(record).length !== names.length)
    refuse(`an object of exactly the ${what} ${names.join(", ")}`);
  return names.map((name) => record[name]);
}
