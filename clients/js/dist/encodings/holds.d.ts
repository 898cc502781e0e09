import type { Json } from "../wire/codec.js";
import type { Encoding } from "./base.js";
import type { Whole } from "../wire/fields.js";
export declare function holds(content: Json): Encoding;
export declare function holding(items: Whole, item: Whole): Encoding;
