import type { Reading } from "../core/registry.js";
import type { Json } from "../wire/codec.js";
import type { Address, Ask, Question } from "./question.js";
export declare class Bundle implements Ask {
    readonly parts: readonly Ask[];
    readonly epsilon: string;
    readonly epsilonOnce: number;
    readonly width: number;
    readonly slots: number;
    readonly hasCoin: boolean;
    readonly representatives: readonly Question[];
    constructor(parts: readonly Ask[]);
    at(member: number, slot: number): Question;
    addresses(coin: (slot: number) => bigint): Address[];
}
export declare function read(document: Json, reading: Reading): Bundle;
