import type { Encoding } from "../encoding.js";
import type { Json } from "../canonical.js";
export declare function attribute(content: Json): Encoding;
