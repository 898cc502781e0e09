// Affine response on the index itself, of up to 480 bits: for finding long values prefix by prefix.
// Source: docs/affine-response.md.

import { need } from "../errors.js";
import { bitLength } from "../maths/hashing.js";
import { affineResponse, SHAPE } from "./affine.js";
import { mechanismReader } from "./base.js";

export const read = mechanismReader("affine_prefix", [3, 1n << 480n], SHAPE, (settings) => {
  const { size, groups } = settings;
  const bits = bitLength(BigInt(size) - 1n);
  need(!groups.length, "`groups` must be empty");
  need(
    bits < 64 || BigInt(size) === 1n << BigInt(bits),
    "`size` must be a power of two above 2^63",
  );
  return affineResponse(settings, (index) => index);
});
