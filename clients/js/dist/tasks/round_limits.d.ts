import type { Json } from "../wire/codec.js";
import type { Round } from "./round.js";
export interface RoundLimits {
    readonly count: number;
    readonly width: number;
    readonly mechanisms: readonly string[];
    readonly encodings: readonly string[];
    check(round: Round): void;
}
export declare function read(document: Json): RoundLimits;
