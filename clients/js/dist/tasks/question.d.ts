import { Reading } from "../core/registry.js";
import type { Encoding } from "../encodings/base.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Json } from "../wire/codec.js";
export interface Address {
    readonly member: number;
    readonly slot: number;
}
export interface Ask {
    readonly epsilon: string;
    readonly epsilonOnce: number;
    readonly width: number;
    readonly slots: number;
    readonly hasCoin: boolean;
    readonly representatives: readonly Question[];
    at(member: number, slot: number): Question;
    addresses(coin: (slot: number) => bigint, slot?: number): Address[];
}
export declare class Question implements Ask {
    readonly mechanism: Mechanism;
    readonly encoding?: Encoding | undefined;
    readonly epsilon: string;
    readonly slots = 1;
    readonly hasCoin = false;
    constructor(mechanism: Mechanism, encoding?: Encoding | undefined, epsilon?: string);
    get epsilonOnce(): number;
    get width(): number;
    get representatives(): readonly Question[];
    at(): Question;
    addresses(_coin: unknown, slot?: number): Address[];
}
export declare function readAsk(document: Json, reading?: Reading): Ask;
