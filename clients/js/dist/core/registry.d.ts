import type { Domain } from "../domains/base.js";
import type { Encoding } from "../encodings/base.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Family } from "../tasks/families/base.js";
import type { Ask } from "../tasks/question.js";
import type { RoundLimits } from "../tasks/round_limits.js";
import type { Json } from "../wire/codec.js";
export declare function load(content: Json): Promise<void>;
export declare class Reading {
    #private;
    within<T>(kind: string, read: () => T): T;
    once<T>(content: Json, read: () => T): T;
    countMechanism(): void;
    countMembers(count: number): void;
}
export declare function readMechanism(document: Json, reading?: Reading): Mechanism;
export declare function readFamily(document: Json, reading?: Reading): Family;
export declare function readEncoding(document: Json, reading?: Reading): Encoding;
export declare function readDomain(document: Json, reading?: Reading): Domain;
export declare function readCombinator(document: Json, reading: Reading): Ask;
export declare function readRoundLimits(document: Json): RoundLimits;
