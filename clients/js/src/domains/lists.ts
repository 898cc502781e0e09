// Any number of records of one kind: what somebody has bought, which trips they made.

import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
import { anyIndex, refuse } from "../domain.js";
import { need, ParameterError } from "../errors.js";
import type { Whole } from "../fields.js";
import { fields, small } from "../fields.js";
import { readDomain } from "../kinds.js";

const MOST = 65536;

export function lists(content: Json): Domain {
  const { records, most } = fields(content, "lists", { records: readDomain, most: small });
  need(records.names, "a list is of records");
  need(most >= 1 && most <= MOST, `a list has at most so many records, from 1 to ${MOST}`);
  return {
    get size(): Whole {
      throw new ParameterError("a question about lists needs an encoding");
    },
    records,
    most,
    index(value) {
      const held = Array.isArray(value) ? Array.from(value) : refuse("a list of records");
      return held.map((one) => records.index(one) as Whole[]);
    },
    anything: (random) => [anyIndex(records, random) as Whole[]],
  };
}
