import type { Reading } from "../../core/registry.js";
import type { Json } from "../../wire/codec.js";
import type { Family } from "./base.js";
export declare function read(document: Json, reading: Reading): Family;
