// One attribute of a record: the question a survey puts to one of its groups.

import type { Domain } from "../domains/base.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { fields, whole } from "../wire/fields.js";

export function attribute(content: Json): Encoding {
  const { column } = fields(content, "attribute", { column: whole });
  return {
    outputs(domain: Domain): Whole {
      const asked = domain.attributes?.[Number(column)];
      need(asked, "this question asks about an attribute that the domain does not have");
      return asked.size;
    },
    encode: (index) => (index as Whole[])[Number(column)]!,
  };
}
