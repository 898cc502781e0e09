import type { Json } from "../canonical.js";
import type { Family } from "../task.js";
export declare function views(content: Json): Family;
