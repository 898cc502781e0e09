import type { Ratio } from "../maths/exact.js";
import type { Random } from "../core/rng.js";
export declare const POINTS: readonly [2, number];
export declare const CELLS: {
    cells: import("../wire/fields.js").Read<number>;
    window: import("../wire/fields.js").Read<number>;
    keep: import("../wire/fields.js").Read<bigint>;
};
export interface Window {
    readonly ratio: Ratio;
    cell(index: number, random: Random): number;
}
export declare const duchi: import("./base.js").Kind;
export declare const piecewise: import("./base.js").Kind;
export declare const square_wave: import("./base.js").Kind;
export declare function sliding(size: number, cells: number, window: number, keep: bigint): Window;
