// Sets of items, such as what a person has bought, played or visited.  Items that the domain does
// not list are left out on the device.

import { readDomain } from "../core/registry.js";
import { need, ParameterError } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields } from "../wire/fields.js";
import type { Domain } from "./base.js";
import { randomIndex, refuse } from "./base.js";

export function read(document: Json): Domain {
  const { items } = readFields(document, "sets", { items: readDomain });
  const { find } = items;
  need(find, "`items` of sets must be integers, or categories that are not declinable");
  return {
    facts: { kind: "sets", count: items.size },
    get size(): Whole {
      throw new ParameterError("a question about sets needs an `encoding`");
    },
    items: items.size,
    index(value) {
      const isSet = Array.isArray(value) || value instanceof Set;
      const members = isSet ? [...value] : refuse("a set or a list of items");
      const indices = members.map(find).filter((index): index is Whole => index !== undefined);
      return [...new Set(indices)].sort((left, right) => (left < right ? -1 : 1));
    },
    randomIndex: (rng) => [randomIndex(items, rng) as Whole],
  };
}
