import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import type { Encoding } from "./base.js";
export declare function read(document: Json): Encoding;
export declare function holds(items: Whole, item: Whole): Encoding;
