import type { Whole } from "../wire/fields.js";
export declare function bitLength(size: Whole): number;
export declare function wordsOf(index: Whole, bits: number): Uint32Array;
export declare function xxh32(words: Uint32Array, seed: number): number;
export declare function mix(word: number): number;
export declare function masks(low: number, high: number, bits: number, rank: number): Uint32Array[];
export declare function affineHash(rows: Uint32Array[], point: Uint32Array): number;
export declare function permute(index: Whole, bits: number, groups: number[]): bigint;
