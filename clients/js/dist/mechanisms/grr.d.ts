import type { Ratio } from "../maths/exact.js";
import type { Halves, Random } from "../core/rng.js";
export declare const grr: import("./base.js").Kind;
export declare function respond(index: number, size: number, keep: Halves, random: Random): number;
export declare function responseRatio(keep: bigint, size: number): Ratio;
