import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
type IndexAt = (position: number, size: number) => number;
export declare function readRealRange(document: Json, kind: string, sizeField: string, indexAt: IndexAt): Domain;
export {};
