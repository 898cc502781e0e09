// Several named attributes of one person.

import type { Json } from "../wire/codec.js";
import { isContent } from "../wire/codec.js";
import type { Domain } from "./base.js";
import { refuse } from "./base.js";
import { need, ParameterError } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, list, text } from "../wire/fields.js";
import { readDomain } from "../core/registry.js";

export function records(content: Json): Domain {
  const { names, attributes } = fields(content, "records", { names: list(text), attributes: list(readDomain) });
  const distinct = new Set(names);
  const different = distinct.size === names.length && names.length > 0 && !distinct.has("");
  need(
    different && names.length === attributes.length,
    "records need one domain for every name, and all names different",
  );
  return {
    get size(): Whole {
      throw new ParameterError("a question about records needs an encoding");
    },
    attributes,
    names,
    index(value) {
      const keys = isContent(value) ? Object.keys(value) : [];
      if (keys.length !== names.length || !keys.every((key) => distinct.has(key))) {
        return refuse(`a record of exactly the attributes ${names.join(", ")}`);
      }
      return names.map((name, i) => attributes[i]!.index((value as Record<string, unknown>)[name]) as Whole);
    },
  };
}
