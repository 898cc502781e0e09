import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
export declare function read(document: Json): Domain;
export declare function bitString(bits: number): Pick<Domain, "size" | "bits" | "randomIndex">;
export declare function bigEndian(bytes: Uint8Array): bigint;
