import type { Rng } from "../core/rng.js";
import type { Whole } from "../wire/fields.js";
import type { Randomizer } from "./base.js";
export declare const SIZES: readonly [2, bigint];
export declare const read: (document: import("../wire/codec.js").Json) => import("./base.js").Mechanism;
interface Settings {
    readonly size: Whole;
    readonly buckets: number;
    readonly keep: bigint;
    readonly width: number;
    readonly drawSeed?: (rng: Rng) => number;
    readonly seedCount?: Whole;
}
export declare function localHashing(settings: Settings): Randomizer;
export {};
