// Sets of items: what somebody has bought, played, visited.  Items that are not listed are left out, on the device.

import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
import { anyIndex, refuse } from "./base.js";
import { need, ParameterError } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields } from "../wire/fields.js";
import { readDomain } from "../core/registry.js";

export function sets(content: Json): Domain {
  const { items } = fields(content, "sets", { items: readDomain });
  const { find } = items;
  need(find, "the items of sets are categories or whole numbers, and declining is none of them");
  return {
    get size(): Whole {
      throw new ParameterError("a question about sets needs an encoding");
    },
    items: items.size,
    index(value) {
      const held = Array.isArray(value) || value instanceof Set ? [...value] : refuse("a set or a list of items");
      const found = held.map(find).filter((place): place is Whole => place !== undefined);
      return [...new Set(found)].sort((one, other) => (one < other ? -1 : 1));
    },
    anything: (random) => [anyIndex(items, random) as Whole],
  };
}
