import type { Encoding } from "./base.js";
import type { Json } from "../wire/codec.js";
export declare function attribute(content: Json): Encoding;
