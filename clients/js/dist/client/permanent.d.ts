import type { Notice } from "../tasks/notice.js";
import type { MakePayload } from "./message.js";
export interface PermanentResponse {
    readonly tag: string;
    readonly response: string;
}
export interface Memory {
    readonly secret: Uint8Array;
    responses(slot: number): PermanentResponse[];
}
export declare function permanentPayload(notice: Notice, memory: Memory): MakePayload;
export declare function tagOf(secret: Uint8Array, slot: number, index: number): string;
