import type { Json } from "../wire/codec.js";
import type { Encoding } from "./base.js";
export declare function read(document: Json): Encoding;
