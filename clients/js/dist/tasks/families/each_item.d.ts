import type { Json } from "../../wire/codec.js";
import type { Family } from "./base.js";
export declare function read(document: Json): Family;
