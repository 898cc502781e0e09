import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
export declare const numbers: (content: Json) => Domain;
export declare const buckets: (content: Json) => Domain;
