import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";
export declare const CELLS_RULE = "a layer has at most 2^62 cells";
export interface Layer {
    readonly table: Whole;
    readonly columns: readonly Whole[];
    readonly sizes: readonly Whole[];
    readonly widths: readonly Whole[];
    readonly most: Whole;
    readonly weighted: boolean;
    readonly rounded: readonly Whole[];
    readonly mirrored: readonly Whole[];
    readonly aligned: boolean;
}
export interface Extent {
    readonly factors: readonly bigint[];
    readonly order: readonly number[];
    readonly groups: readonly number[];
    readonly cells: bigint;
}
export declare function read(document: Json): Encoding;
export declare function cell(layer: Layer): Encoding;
export declare function checkLayer(layer: Layer): void;
export declare function intervalCount(size: Whole, width: Whole, isMirrored: boolean): bigint;
