// Named values; with `declinable` the last one stands for not wanting to say.

import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
import { refuse } from "./base.js";
import { need } from "../errors.js";
import { fields, flag, list, text } from "../wire/fields.js";

const DECLINED = "prefer not to say";

export function categories(content: Json): Domain {
  const { labels, declinable } = fields(content, "categories", { labels: list(text), declinable: flag });
  const places = new Map(labels.map((label, index) => [label, index]));
  const different = places.size === labels.length && labels.length > 1 && !places.has("");
  need(different, "categories need at least two labels, all different and none empty");
  need(!declinable || labels.at(-1) === DECLINED, `the label ${DECLINED} is the last one`);
  const find = (value: unknown) =>
    typeof value === "string" ? places.get(value.normalize("NFC")) : refuse("text, or a list of texts");
  const index = (value: unknown) => {
    if (value === null && declinable) return labels.length - 1;
    return find(value) ?? refuse(`one of the ${labels.length} categories of the task`);
  };
  return {
    size: labels.length,
    labels,
    index,
    plain: (value) => JSON.stringify(labels[index(value)]),
    valueAt: (index) => labels[Number(index)],
    find: declinable ? undefined : find, // declining is no item of a set
  };
}
