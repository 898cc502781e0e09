import type { Json } from "../wire/codec.js";
import type { Round } from "./round.js";
export interface RoundLimits {
    readonly count: number;
    readonly width: number;
    readonly mechanisms: readonly string[];
    readonly encodings: readonly string[];
}
export declare function readRoundLimits(document: Json): RoundLimits;
export declare function checkLaterRound(limits: RoundLimits, { number, ask }: Round): void;
