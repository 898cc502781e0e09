// Some neighbouring bits of a long value, such as its prefix.

import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields, small } from "../wire/fields.js";
import type { Encoding } from "./base.js";

const SHAPE = { bits: small, start: small, length: small };

export function read(document: Json): Encoding {
  const { bits, start, length } = readFields(document, "segment", SHAPE);
  need(start >= 0, "`start` of a segment must be at least 0");
  need(length > 0, "`length` of a segment must be at least 1");
  need(start + length <= bits, "a segment must end within the `bits` of a value");
  const shift = BigInt(bits - start - length); // bit 0 is the most significant
  return {
    kind: "segment",
    outputs(domain) {
      need(domain.bits === bits, "`bits` must be the bits of a value of the task's domain");
      return narrow(1n << BigInt(length));
    },
    encode: (index) => narrow(BigInt.asUintN(length, BigInt(index as Whole) >> shift)),
  };
}
