import type { Rng } from "../core/rng.js";
import type { Ratio } from "../maths/exact.js";
import type { Randomizer } from "./base.js";
export declare const POINTS: readonly [2, number];
export interface WindowSettings {
    readonly size: number;
    readonly cells: number;
    readonly window: number;
    readonly keep: bigint;
}
export interface WindowMechanism {
    readonly worstRatio: Ratio;
    drawCell(index: number, rng: Rng): number;
}
export declare function slidingWindow({ size, cells, window, keep }: WindowSettings): WindowMechanism;
export declare function windowMechanism(settings: WindowSettings): Randomizer;
