// One Hadamard coefficient of a record: whether an odd number of the chosen bits of its attributes are set.

import type { Json } from "../wire/codec.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, list, whole } from "../wire/fields.js";
import { bitLength } from "../maths/hashing.js";
import type { Columns } from "./view.js";
import { checkAttributes, checked, held, SHAPE } from "./view.js";

interface Coefficient extends Columns {
  readonly masks: readonly Whole[];
}

export function parity(content: Json): Encoding {
  return coefficient(fields(content, "parity", { ...SHAPE, masks: list(whole) }));
}

/** Yields the parity of all bits of the columns' values that the masks choose. */
export function coefficient(asked: Coefficient): Encoding {
  const { columns, sizes, masks } = checked(asked);
  need(
    masks.length === columns.length && masks.every((mask, i) => mask > 0 && mask < 1n << BigInt(bitsOf(sizes[i]!))),
    "a coefficient has one mask for every column, of its bits and not empty",
  );
  return {
    outputs(domain) {
      checkAttributes(asked, domain);
      return 2;
    },
    encode(index) {
      // The parities add up as those of one number do.
      const bits = columns.reduce((all: bigint, column, i) => all ^ (held(index, column) & BigInt(masks[i]!)), 0n);
      return bits.toString(2).replaceAll("0", "").length & 1;
    },
  };
}

/** Returns how many bits the values of an attribute have. */
export function bitsOf(size: Whole): number {
  return bitLength(BigInt(size) - 1n);
}
