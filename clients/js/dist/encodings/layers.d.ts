import type { Json } from "../canonical.js";
import type { Family } from "../task.js";
export declare function layers(content: Json): Family;
