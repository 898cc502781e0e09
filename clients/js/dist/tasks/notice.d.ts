import type { Content, Json } from "../wire/codec.js";
import type { Collection } from "./collection.js";
import type { Domain } from "../domains/base.js";
import type { Encoding } from "../encodings/base.js";
import type { Mechanism } from "../mechanisms/base.js";
export interface Question extends Priced {
    readonly mechanism: Mechanism;
    readonly encoding?: Encoding;
}
export interface Family {
    readonly length: number;
    at(place: number): Question;
    readonly different?: readonly Question[];
}
export interface Choice extends Priced {
    readonly members: readonly (Question | Bundle)[] | Family;
    readonly different: readonly (Question | Bundle)[];
    readonly weights: readonly number[];
}
export interface Bundle extends Priced {
    readonly parts: readonly (Question | Choice)[];
}
export type Ask = Question | Choice | Bundle;
interface Priced {
    readonly epsilon: string;
    readonly width: number;
}
export interface Round {
    readonly number: number;
    readonly ask: Ask;
    readonly low: bigint;
    readonly high: bigint;
    readonly wording: string;
}
export interface Notice {
    readonly name: string;
    readonly description: string;
    readonly digest: string;
    readonly digestBytes: Uint8Array;
    readonly domain: Domain;
    readonly epsilon: string;
    readonly declares: readonly string[];
    readonly opening: Round;
    readonly collection?: Collection;
    readonly distinct?: number;
}
export declare function readNotice(content: Content): Notice;
export declare function checkRound(notice: Notice, asked: Round): Round;
export declare function readRound(content: Json): Round;
export {};
