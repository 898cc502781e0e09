// Whether somebody has one item: yes or no.

import type { Json } from "../wire/codec.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, whole } from "../wire/fields.js";
import { number } from "./size.js";

export function holds(content: Json): Encoding {
  const { items, item } = fields(content, "holds", { items: whole, item: whole });
  return holding(items, item);
}

export function holding(items: Whole, item: Whole): Encoding {
  need(item >= 0 && item < items, "this question asks about an item that there is not");
  return {
    outputs(domain) {
      number({ items, among: [] }, domain);
      return 2;
    },
    encode: (index) => +(index as Whole[]).includes(item),
  };
}
