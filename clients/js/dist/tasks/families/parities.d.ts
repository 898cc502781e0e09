import type { Json } from "../../wire/codec.js";
import type { Family } from "../notice.js";
export declare function parities(content: Json): Family;
