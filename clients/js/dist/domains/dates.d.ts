import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
export declare function read(document: Json): Domain;
