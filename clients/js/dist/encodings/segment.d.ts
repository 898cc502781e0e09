import type { Json } from "../wire/codec.js";
import type { Domain } from "../domains/base.js";
import type { Encoding } from "./base.js";
import type { Whole } from "../wire/fields.js";
export declare const SHAPE: {
    bits: import("../wire/fields.js").Read<number>;
    start: import("../wire/fields.js").Read<number>;
    length: import("../wire/fields.js").Read<number>;
};
interface Piece {
    readonly bits: number;
    readonly start: number;
    readonly length: number;
}
export declare function segment(content: Json): Encoding;
export declare function checked<P extends Piece>(piece: P): P;
export declare function outcomes({ bits, length }: Piece, domain: Domain): bigint;
export declare function cut({ bits, start, length }: Piece, index: Whole): bigint;
export {};
