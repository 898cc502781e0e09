// Binary local hashing: local hashing with two buckets.

import { threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { localHashing, SIZES } from "./olh.js";

export const read = mechanismReader("blh", SIZES, { keep: threshold }, ({ size, keep }) =>
  localHashing({ size, buckets: 2, keep, width: 2 }),
);
