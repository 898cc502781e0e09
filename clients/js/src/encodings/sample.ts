// Padding and sampling: one element of a set stands for it, and short sets are filled with distinct dummies.

import type { Json } from "../wire/codec.js";
import { narrow } from "../domains/base.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, small } from "../wire/fields.js";
import { checked, held, number, SHAPE } from "./size.js";

const LONGEST = 65536;

export function sample(content: Json): Encoding {
  const asked = checked(fields(content, "sample", { ...SHAPE, length: small }));
  const { items, among, length } = asked;
  need(length >= 1 && length <= LONGEST, `sets are padded to a length from 1 to ${LONGEST}`);
  return {
    outputs: (domain) => narrow(BigInt(number(asked, domain)) + BigInt(length)),
    encode(index, random) {
      const has = held(asked, index as Whole[]);
      const drawn = random.integer(Math.max(has.length, length));
      const dummy = random.integer(length); // drawn whether it is used or not
      return has[drawn] ?? narrow(BigInt(among.length || items) + BigInt(dummy));
    },
    ratio({ kind, ratio: [top, bottom] }) {
      // No element is drawn with a chance above 1/length.  Hashing may put a whole set into one bucket: no gain.
      const spread = bottom * BigInt(length);
      return kind === "grr" ? [spread + top - bottom, spread] : [top, bottom];
    },
  };
}
