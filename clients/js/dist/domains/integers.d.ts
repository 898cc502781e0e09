import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
export declare function integers(content: Json): Domain;
