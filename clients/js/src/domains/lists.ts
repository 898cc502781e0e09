// Lists: any number of records of one kind, such as purchases or trips.

import { readDomain } from "../core/registry.js";
import { need, ParameterError } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields, small } from "../wire/fields.js";
import type { Domain } from "./base.js";
import { randomIndex, refuse } from "./base.js";

const MAX_RECORDS = 65536;

export function read(document: Json): Domain {
  const { records, most } = readFields(document, "lists", { records: readDomain, most: small });
  need(records.names, "`records` of a list must be a domain of records");
  need(most >= 1 && most <= MAX_RECORDS, `\`most\` must be from 1 to ${MAX_RECORDS}`);
  return {
    facts: { kind: "lists" },
    get size(): Whole {
      throw new ParameterError("a question about lists needs an `encoding`");
    },
    records,
    most,
    index(value) {
      const list = Array.isArray(value) ? Array.from(value) : refuse("a list of records");
      return list.map((record) => records.index(record) as Whole[]);
    },
    randomIndex: (rng) => [randomIndex(records, rng) as Whole[]],
  };
}
