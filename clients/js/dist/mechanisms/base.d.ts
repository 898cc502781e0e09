import type { Json } from "../wire/codec.js";
import type { Ratio } from "../maths/exact.js";
import type { Fields, Shape, Whole } from "../wire/fields.js";
import type { Random } from "../core/rng.js";
export interface Randomizer {
    readonly ratio: Ratio;
    readonly width: number;
    readonly groups?: readonly number[];
    readonly once?: number;
    permanent(index: any, random: Random): Uint8Array;
    instantaneous?(packed: Uint8Array, random: Random): Uint8Array;
}
export interface Mechanism extends Randomizer {
    readonly kind: string;
    readonly epsilon: string;
    readonly size: Whole;
    instantaneous(packed: Uint8Array, random: Random): Uint8Array;
}
export type Kind = (content: Json) => Mechanism;
export declare function kind<S extends Shape>(name: string, sizes: readonly [smallest: number, largest: Whole], shape: S, make: (settings: Fields<S> & {
    epsilon: string;
    size: number;
}) => Randomizer): Kind;
export declare function checkRatio(ratio: Ratio, epsilon: string): void;
