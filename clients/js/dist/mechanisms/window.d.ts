import type { Ratio } from "../exact.js";
import type { Random } from "../random.js";
export declare const POINTS: readonly [2, number];
export declare const CELLS: {
    cells: import("../fields.js").Read<number>;
    window: import("../fields.js").Read<number>;
    keep: import("../fields.js").Read<bigint>;
};
export interface Window {
    readonly ratio: Ratio;
    cell(index: number, random: Random): number;
}
export declare const duchi: import("../mechanism.js").Kind;
export declare const piecewise: import("../mechanism.js").Kind;
export declare const square_wave: import("../mechanism.js").Kind;
export declare function sliding(size: number, cells: number, window: number, keep: bigint): Window;
