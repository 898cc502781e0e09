// A piece of a long value: a prefix for the prefix extending method, a segment or a block for the others.

import type { Json } from "../wire/codec.js";
import type { Domain } from "../domains/base.js";
import { narrow } from "../domains/base.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, small } from "../wire/fields.js";

export const SHAPE = { bits: small, start: small, length: small };

interface Piece {
  readonly bits: number;
  readonly start: number;
  readonly length: number;
}

export function segment(content: Json): Encoding {
  const piece = checked(fields(content, "segment", SHAPE));
  return {
    outputs: (domain) => narrow(outcomes(piece, domain)),
    encode: (index) => narrow(cut(piece, index as Whole)),
  };
}

export function checked<P extends Piece>(piece: P): P {
  const { bits, start, length } = piece;
  const inside = start >= 0 && length > 0 && start + length <= bits;
  need(inside, "a segment begins within a value, has at least one bit and ends within it");
  return piece;
}

/** Returns how many segments there are; refuses a domain of other values. */
export function outcomes({ bits, length }: Piece, domain: Domain): bigint {
  need(domain.bits === bits, "this question asks for a piece of a value of another length than the domain has");
  return 1n << BigInt(length);
}

/** Returns the bits from `start` on; bit 0 is the most significant. */
export function cut({ bits, start, length }: Piece, index: Whole): bigint {
  return BigInt.asUintN(length, BigInt(index) >> BigInt(bits - start - length));
}
