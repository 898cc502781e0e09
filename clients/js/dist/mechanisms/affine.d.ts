import type { Whole } from "../wire/fields.js";
import type { Randomizer } from "./base.js";
export declare const SHAPE: {
    buckets: import("../wire/fields.js").Read<number>;
    groups: import("../wire/fields.js").Read<number[]>;
    keep: import("../wire/fields.js").Read<bigint>;
};
export declare const read: (document: import("../wire/codec.js").Json) => import("./base.js").Mechanism;
interface Settings {
    readonly size: Whole;
    readonly buckets: number;
    readonly groups: readonly number[];
    readonly keep: bigint;
}
export declare function affineResponse({ size, buckets, groups, keep }: Settings, pointOf: (index: Whole) => Whole): Randomizer;
export {};
