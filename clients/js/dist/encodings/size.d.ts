import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
import type { Encoding } from "../encoding.js";
import type { Whole } from "../fields.js";
export declare const SHAPE: {
    items: import("../fields.js").Read<Whole>;
    among: import("../fields.js").Read<Whole[][]>;
};
export interface Candidates {
    readonly items: Whole;
    readonly among: readonly (readonly Whole[])[];
}
export declare function size(content: Json): Encoding;
export declare function checked<C extends Candidates>(asked: C): C;
export declare function number({ items, among }: Candidates, domain: Domain): Whole;
export declare function held({ among }: Candidates, set: readonly Whole[]): readonly Whole[];
