import type { Json } from "../canonical.js";
import type { Encoding } from "../encoding.js";
import type { Whole } from "../fields.js";
export declare function holds(content: Json): Encoding;
export declare function holding(items: Whole, item: Whole): Encoding;
