import type { Ratio } from "../exact.js";
import type { Halves, Random } from "../random.js";
export declare const grr: import("../mechanism.js").Kind;
export declare function respond(index: number, size: number, keep: Halves, random: Random): number;
export declare function responseRatio(keep: bigint, size: number): Ratio;
