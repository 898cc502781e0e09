// Numbers: real numbers between two bounds, each at the nearest of equally spaced points.

import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
import { readRealRange } from "./real_range.js";

export function read(document: Json): Domain {
  const nearestPoint = (position: number, size: number): number =>
    roundHalfToEven(position * (size - 1));
  return readRealRange(document, "numbers", "points", nearestPoint);
}

function roundHalfToEven(number: number): number {
  const floor = Math.floor(number);
  const rest = number - floor;
  const roundUp = rest > 0.5 || (rest === 0.5 && floor % 2);
  return roundUp ? floor + 1 : floor;
}
