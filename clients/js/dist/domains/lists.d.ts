import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
export declare function lists(content: Json): Domain;
