import type { Json } from "../canonical.js";
import type { Domain, Index } from "../domain.js";
import type { Encoding } from "../encoding.js";
import type { Whole } from "../fields.js";
export declare const SHAPE: {
    columns: import("../fields.js").Read<Whole[]>;
    sizes: import("../fields.js").Read<Whole[]>;
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
