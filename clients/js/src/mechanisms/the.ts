// Thresholding with histogram encoding: a noisy histogram of which only the bits above `theta` are
// sent.  On the device it is a unary encoding.

import { need } from "../errors.js";
import { real } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { SHAPE, SIZES, unary } from "./unary.js";

const OWN_SHAPE = { ...SHAPE, theta: real };

export const read = mechanismReader("the", SIZES, OWN_SHAPE, ({ size, keep, flip, theta }) => {
  need(+theta > 0 && +theta <= 1, "`theta` must be above 0 and at most 1");
  return unary(size, keep, flip);
});
