// One question for every item: does the person hold it?  A public coin picks the item.

import type { Reading } from "../../core/registry.js";
import { readMechanism } from "../../core/registry.js";
import { holds } from "../../encodings/holds.js";
import { need } from "../../errors.js";
import type { Json } from "../../wire/codec.js";
import { list, readFields, small } from "../../wire/fields.js";
import { Question } from "../question.js";
import type { Family } from "./base.js";

export function read(document: Json, reading: Reading): Family {
  const mechanismOf = (content: Json) => readMechanism(content, reading);
  const shape = { mechanism: mechanismOf, items: small, among: list(small) };
  const { mechanism, items, among } = readFields(document, "each_item", shape);
  need(mechanism.size === 2, "`size` of the mechanism must be 2: yes and no");
  need(items > 1, "`items` must be at least 2");
  need(new Set(among).size === among.length, "`among` must not list an item twice");
  need(
    among.every((item) => item >= 0 && item < items),
    "`among` must list items from 0 to `items` - 1",
  );
  const at = (index: number): Question =>
    new Question(mechanism, holds(items, among[index] ?? index));
  return { length: among.length || items, at, representatives: [at(0)] };
}
