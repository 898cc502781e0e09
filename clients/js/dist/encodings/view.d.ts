import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";
interface Columns {
    readonly columns: readonly Whole[];
    readonly sizes: readonly Whole[];
}
export declare function read(document: Json): Encoding;
export declare function view(asked: Columns): Encoding;
export declare function cellCount(sizes: readonly Whole[]): bigint;
export {};
