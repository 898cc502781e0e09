import type { Json } from "../wire/codec.js";
import type { Domain } from "../domains/base.js";
import type { Encoding } from "./base.js";
import type { Whole } from "../wire/fields.js";
export declare const SHAPE: {
    items: import("../wire/fields.js").Read<Whole>;
    among: import("../wire/fields.js").Read<Whole[][]>;
};
export interface Candidates {
    readonly items: Whole;
    readonly among: readonly (readonly Whole[])[];
}
export declare function size(content: Json): Encoding;
export declare function checked<C extends Candidates>(asked: C): C;
export declare function number({ items, among }: Candidates, domain: Domain): Whole;
export declare function held({ among }: Candidates, set: readonly Whole[]): readonly Whole[];
