import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
export declare function strings(content: Json): Domain;
