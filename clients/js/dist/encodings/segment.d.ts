import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
import type { Encoding } from "../encoding.js";
import type { Whole } from "../fields.js";
export declare const SHAPE: {
    bits: import("../fields.js").Read<number>;
    start: import("../fields.js").Read<number>;
    length: import("../fields.js").Read<number>;
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
