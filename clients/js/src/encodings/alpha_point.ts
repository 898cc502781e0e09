// Rounding of counters to a few levels, by an offset that each device draws for itself.

import type { Json } from "../wire/codec.js";
import type { Encoding } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, small } from "../wire/fields.js";

export function alpha_point(content: Json): Encoding {
  const { points, size } = fields(content, "alpha_point", { points: small, size: small });
  need(
    2 <= points && points <= size && size <= 2 ** 31,
    "rounding needs from 2 levels to as many as there are values, at most 2^31",
  );
  return {
    outputs(domain) {
      need(
        domain.ordered && domain.size === size,
        "this question rounds a number of another range than the domain has",
      );
      return points;
    },
    encode(index, random) {
      // The chance of the upper level is the remainder over size - 1, exactly.
      const product = BigInt(index as Whole) * BigInt(points - 1);
      const whole = BigInt(size - 1);
      return Number(product / whole) + +(random.integer(size - 1) < product % whole);
    },
  };
}
