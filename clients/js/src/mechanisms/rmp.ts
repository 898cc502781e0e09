// Random matrix projection: local hashing with two buckets, whose seed is a row of a matrix of
// signs.  The rows come from a pool, or are drawn afresh if the pool has 0 rows.

import type { Rng } from "../core/rng.js";
import { need } from "../errors.js";
import { threshold, whole } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { localHashing, SIZES } from "./olh.js";

const SHAPE = { rows: whole, keep: threshold };

export const read = mechanismReader("rmp", SIZES, SHAPE, ({ size, rows, keep }) => {
  need(rows === 0 || (rows >= 8 && rows <= 2 ** 32), "`rows` must be 0, or from 8 to 2^32");
  const pooled = (rng: Rng): number =>
    rows < 2 ** 32 ? rng.integer(Number(rows)) : Number(rng.wideInteger(BigInt(rows)));
  const common = { size, buckets: 2, keep, width: 1 };
  return localHashing(rows ? { ...common, drawSeed: pooled, seedCount: rows } : common);
});
