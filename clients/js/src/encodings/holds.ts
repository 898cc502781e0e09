// Whether a person holds one item: yes or no.

import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields, whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";
import { candidateCount } from "./size.js";

export function read(document: Json): Encoding {
  const { items, item } = readFields(document, "holds", { items: whole, item: whole });
  return holds(items, item);
}

export function holds(items: Whole, item: Whole): Encoding {
  need(item >= 0 && item < items, "`item` must be at least 0 and below `items`");
  return {
    kind: "holds",
    outputs(domain) {
      candidateCount({ items, among: [] }, domain);
      return 2;
    },
    encode: (index) => +(index as Whole[]).includes(item),
  };
}
