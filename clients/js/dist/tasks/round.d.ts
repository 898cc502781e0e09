import type { Document, Json } from "../wire/codec.js";
import type { Ask } from "./question.js";
export interface Round {
    readonly number: number;
    readonly ask: Ask;
    readonly low: bigint;
    readonly high: bigint;
    readonly document: Document;
}
export declare function readRound(content: Json): Round;
export declare function asksCoin({ low, high }: Pick<Round, "low" | "high">, coin: bigint): boolean;
