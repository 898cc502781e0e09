import type { Rng } from "../core/rng.js";
import type { Ratio } from "../maths/exact.js";
import type { Json } from "../wire/codec.js";
import type { Fields, Shape, Whole } from "../wire/fields.js";
export interface Randomizer {
    readonly worstRatio: Ratio;
    readonly width: number;
    readonly groups?: readonly number[];
    readonly steps?: number;
    readonly epsilonOnce?: number;
    readonly share?: number;
    readonly overlap?: number;
    permanent(index: any, rng: Rng, draw?: bigint): Uint8Array;
    instantaneous?(packed: Uint8Array, rng: Rng): Uint8Array;
}
export interface Mechanism extends Randomizer {
    readonly kind: string;
    readonly epsilon: string;
    readonly size: Whole;
    instantaneous(packed: Uint8Array, rng: Rng): Uint8Array;
}
interface Common {
    readonly epsilon: string;
    readonly size: number;
}
export declare function mechanismReader<S extends Shape>(kind: string, [smallest, largest]: readonly [smallest: number, largest: Whole], shape: S, make: (settings: Fields<S> & Common) => Randomizer, optional?: string[]): (document: Json) => Mechanism;
export declare function checkRatio(ratio: Ratio, epsilon: string): void;
export {};
