import type { Reading } from "../core/registry.js";
import type { Json } from "../wire/codec.js";
import type { Family } from "./families/base.js";
import type { Address, Ask, Question } from "./question.js";
export declare class Choice implements Ask {
    readonly members: readonly Ask[] | Family;
    readonly weights: readonly number[];
    readonly epsilon: string;
    readonly epsilonOnce: number;
    readonly width: number;
    readonly slots: number;
    readonly hasCoin = true;
    readonly representatives: readonly Question[];
    constructor(members: readonly Ask[] | Family, weights: readonly number[]);
    at(member: number, slot: number): Question;
    addresses(coin: (slot: number) => bigint, slot?: number): Address[];
}
export declare function pick(members: number, weights: readonly number[], coin: bigint): number;
export declare function read(document: Json, reading: Reading): Choice;
