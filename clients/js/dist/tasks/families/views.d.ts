import type { Json } from "../../wire/codec.js";
import type { Family } from "../notice.js";
export declare function views(content: Json): Family;
