import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
export declare const numbers: (content: Json) => Domain;
export declare const buckets: (content: Json) => Domain;
