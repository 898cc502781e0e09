import type { Notice } from "../tasks/notice.js";
import type { Document } from "../wire/codec.js";
import type { LedgerFile } from "./ledger_file.js";
export interface Accepts {
    readonly domain?: Document;
    readonly epsilon?: number;
    readonly public?: readonly string[];
    readonly plans?: readonly string[];
    readonly digest?: string;
    readonly central?: number;
}
export interface Meaning {
    readonly declares: string;
    readonly distinct: string;
    readonly domain: string;
    readonly epsilon: string;
    readonly shuffle?: string;
}
export interface KnownMeaning extends Meaning {
    readonly origin: string;
    readonly name: string;
}
export interface Asked {
    readonly origin: string;
    readonly notice: Notice;
    readonly accepts: Accepts;
}
export declare function refuseUnaccepted(notice: Notice, accepts: Accepts): void;
export declare function refuseChanged(file: LedgerFile, { origin, notice, accepts }: Asked): void;
export declare function remember(file: LedgerFile, origin: string, notice: Notice): void;
