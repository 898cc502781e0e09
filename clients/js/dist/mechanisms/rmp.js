import { need } from "../errors.js";
import { threshold, whole } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { localHashing, SIZES } from "./olh.js";
const SHAPE = { rows: whole, keep: threshold };
export const read = mechanismReader("rmp", SIZES, SHAPE, ({ size, rows, keep }) => {
    need(rows === 0 || (rows >= 8 && rows <= 2 ** 32), "`rows` must be 0, or from 8 to 2^32");
    const pooled = (rng) => rows < 2 ** 32 ? rng.integer(Number(rows)) : Number(rng.wideInteger(BigInt(rows)));
    const common = { size, buckets: 2, keep, width: 1 };
    return localHashing(rows ? { ...common, drawSeed: pooled } : common);
});
