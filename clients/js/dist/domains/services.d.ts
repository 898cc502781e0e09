import type { Json } from "../canonical.js";
import type { Domain } from "../domain.js";
export declare function services(content: Json): Domain;
