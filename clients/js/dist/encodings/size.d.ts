import type { Domain } from "../domains/base.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";
export declare const SHAPE: {
    items: import("../wire/fields.js").Read<Whole>;
    among: import("../wire/fields.js").Read<Whole[][]>;
};
export interface Candidates {
    readonly items: Whole;
    readonly among: readonly (readonly Whole[])[];
}
export declare function read(document: Json): Encoding;
export declare function checkCandidates({ items, among }: Candidates): void;
export declare function candidateCount({ items, among }: Candidates, domain: Domain): Whole;
export declare function heldCandidates({ among }: Candidates, set: readonly Whole[]): readonly Whole[];
