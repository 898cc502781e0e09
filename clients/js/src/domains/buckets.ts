// Buckets: real numbers between two bounds, in intervals of equal width.

import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
import { readRealRange } from "./real_range.js";

export function read(document: Json): Domain {
  // The top of the range belongs to the last interval.
  const bucket = (position: number, size: number): number =>
    Math.min(Math.floor(position * size), size - 1);
  return readRealRange(document, "buckets", "count", bucket);
}
