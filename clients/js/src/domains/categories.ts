// Categories: named values.  If they are `declinable`, the last one means "prefer not to say".

import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import { flag, list, readFields, text } from "../wire/fields.js";
import type { Domain } from "./base.js";
import { refuse } from "./base.js";

const DECLINED = "prefer not to say";

export function read(document: Json): Domain {
  const shape = { labels: list(text), declinable: flag };
  const { labels, declinable } = readFields(document, "categories", shape);
  const indices = new Map(labels.map((label, index) => [label, index]));
  need(labels.length > 1, "`labels` must have at least two entries");
  need(indices.size === labels.length, "`labels` must all be different");
  need(!indices.has(""), "`labels` must not be empty text");
  need(!declinable || labels.at(-1) === DECLINED, `the last of \`labels\` must be ${DECLINED}`);
  const find = (value: unknown): number | undefined =>
    typeof value === "string"
      ? indices.get(value.normalize("NFC"))
      : refuse("text, or a list of texts");
  const index = (value: unknown): number => {
    if (value === null && declinable) return labels.length - 1;
    return find(value) ?? refuse(`one of the ${labels.length} categories of the task`);
  };
  return {
    facts: { kind: "categories", count: labels.length },
    size: labels.length,
    labels,
    index,
    publicJson: (value) => JSON.stringify(labels[index(value)]),
    valueAt: (index) => labels[Number(index)],
    find: declinable ? undefined : find, // "prefer not to say" is not an item of a set
  };
}
