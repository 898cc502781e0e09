import type { Json } from "../canonical.js";
import type { Encoding } from "../encoding.js";
export declare function channel(content: Json): Encoding;
