import type { Json } from "../canonical.js";
import type { Encoding } from "../encoding.js";
import type { Whole } from "../fields.js";
import type { Columns } from "./view.js";
interface Coefficient extends Columns {
    readonly masks: readonly Whole[];
}
export declare function parity(content: Json): Encoding;
export declare function coefficient(asked: Coefficient): Encoding;
export declare function bitsOf(size: Whole): number;
export {};
