import type { Rng, ThresholdWords } from "../core/rng.js";
import type { Ratio } from "../maths/exact.js";
export declare const read: (document: import("../wire/codec.js").Json) => import("./base.js").Mechanism;
export declare function respond(index: number, size: number, keep: ThresholdWords, rng: Rng): number;
export declare function responseRatio(keep: bigint, size: number): Ratio;
