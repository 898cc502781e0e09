import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
export declare function bits(content: Json): Domain;
export declare function long(bits: number): Pick<Domain, "size" | "bits" | "anything">;
export declare function number(bytes: Uint8Array): bigint;
