import type { Report } from "./message.js";
import type { Notice } from "../tasks/notice.js";
export interface Remembered {
    readonly tag: string;
    readonly response: string;
}
export interface Memory {
    readonly secret: Uint8Array;
    slot(number: number): Remembered[];
}
export declare function remembering({ digestBytes, distinct }: Notice, { secret, slot: list }: Memory): Report;
export declare function tagOf(secret: Uint8Array, slot: number, index: number): string;
