import type { Json } from "../wire/codec.js";
import type { Encoding } from "./base.js";
import type { Whole } from "../wire/fields.js";
import type { Columns } from "./view.js";
interface Coefficient extends Columns {
    readonly masks: readonly Whole[];
}
export declare function parity(content: Json): Encoding;
export declare function coefficient(asked: Coefficient): Encoding;
export declare function bitsOf(size: Whole): number;
export {};
