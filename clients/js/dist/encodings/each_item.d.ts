import type { Json } from "../canonical.js";
import type { Family } from "../task.js";
export declare function each_item(content: Json): Family;
