// A piece of a long value together with a public hash of the whole: the channel that the piece is told on.

import type { Json } from "../wire/codec.js";
import { narrow } from "../domains/base.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, small } from "../wire/fields.js";
import { wordsOf, xxh32 } from "../maths/hashing.js";
import { multiplyHigh } from "../core/rng.js";
import { checked, cut, outcomes, SHAPE } from "./segment.js";

export function channel(content: Json): Encoding {
  const piece = checked(fields(content, "channel", { ...SHAPE, channels: small }));
  const { bits, channels, length } = piece;
  need(channels >= 2 && channels <= 65536, "there are from 2 to 65,536 channels");
  const fits = length <= 63 && BigInt(channels) << BigInt(length) <= 1n << 63n;
  need(fits, "a channel and a piece of a value have at most 63 bits together");
  return {
    outputs: (domain) => narrow(BigInt(channels) * outcomes(piece, domain)),
    encode(index) {
      const hash = xxh32(wordsOf(index as Whole, bits), 0);
      return narrow((BigInt(multiplyHigh(hash, channels)) << BigInt(length)) | cut(piece, index as Whole));
    },
  };
}
