import type { Domain } from "../domains/base.js";
import type { Document } from "../wire/codec.js";
import type { Collection } from "./collection.js";
import type { Round } from "./round.js";
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
export declare function readNotice(document: Document): Notice;
export declare function checkRound(notice: Notice, round: Round): Round;
