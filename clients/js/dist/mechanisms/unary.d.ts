import type { Randomizer } from "./base.js";
export declare const SIZES: readonly [2, number];
export declare const SHAPE: {
    keep: import("../wire/fields.js").Read<bigint>;
    flip: import("../wire/fields.js").Read<bigint>;
};
export declare function unary(size: number, keep: bigint, flip: bigint): Randomizer;
