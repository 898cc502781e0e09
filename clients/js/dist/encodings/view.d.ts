import type { Json } from "../wire/codec.js";
import type { Domain, Index } from "../domains/base.js";
import type { Encoding } from "./base.js";
import type { Whole } from "../wire/fields.js";
export declare const SHAPE: {
    columns: import("../wire/fields.js").Read<Whole[]>;
    sizes: import("../wire/fields.js").Read<Whole[]>;
};
export interface Columns {
    readonly columns: readonly Whole[];
    readonly sizes: readonly Whole[];
}
export declare function view(content: Json): Encoding;
export declare function cell(asked: Columns): Encoding;
export declare function checked<C extends Columns>(asked: C): C;
export declare function checkAttributes({ columns, sizes }: Columns, domain: Domain): void;
export declare function cells(sizes: readonly Whole[]): bigint;
export declare function held(record: Index, column: Whole): bigint;
