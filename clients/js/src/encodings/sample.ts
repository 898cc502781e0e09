// Padding and sampling: one element of a set stands for the set, and short sets are padded with
// distinct dummies.
//
// No element is drawn with a chance above 1/length.  With direct response this hides the element
// among the others, and the ratio shrinks to 1 + (ratio - 1)/length.
// Source: Wang 2021, section 5.2.

import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields, small } from "../wire/fields.js";
import type { Encoding } from "./base.js";
import { candidateCount, checkCandidates, heldCandidates, SHAPE } from "./size.js";

const MAX_LENGTH = 65536;

export function read(document: Json): Encoding {
  const sample = readFields(document, "sample", { ...SHAPE, length: small });
  const { items, among, length } = sample;
  checkCandidates(sample);
  need(length >= 1 && length <= MAX_LENGTH, `\`length\` must be from 1 to ${MAX_LENGTH}`);
  return {
    kind: "sample",
    outputs: (domain) => narrow(BigInt(candidateCount(sample, domain)) + BigInt(length)),
    encode(index, rng) {
      const held = heldCandidates(sample, index as Whole[]);
      const drawn = rng.integer(Math.max(held.length, length));
      const dummy = rng.integer(length); // drawn whether it is used or not
      return held[drawn] ?? narrow(BigInt(among.length || items) + BigInt(dummy));
    },
    worstRatio({ kind, worstRatio: [numerator, denominator] }) {
      // Hashing may map a whole set to one bucket, which hides nothing more.
      if (kind !== "grr") return [numerator, denominator];
      const padded = denominator * BigInt(length);
      return [padded + numerator - denominator, padded];
    },
  };
}
