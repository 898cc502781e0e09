// One attribute of a record: the question that a survey asks one of its groups.

import type { Domain } from "../domains/base.js";
import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields, whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";

export function read(document: Json): Encoding {
  const { column } = readFields(document, "attribute", { column: whole });
  return {
    kind: "attribute",
    outputs(domain: Domain): Whole {
      const attribute = domain.attributes?.[Number(column)];
      need(attribute, "`column` must be an attribute of the task's domain");
      return attribute.size;
    },
    encode: (index) => (index as Whole[])[Number(column)]!,
  };
}
