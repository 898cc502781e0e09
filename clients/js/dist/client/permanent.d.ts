import type { Rng } from "../core/rng.js";
import type { Notice } from "../tasks/notice.js";
import type { TaskEntry } from "./ledger_file.js";
import type { MakePayload } from "./message.js";
export interface PermanentResponse {
    readonly tag: string;
    readonly response: string;
}
export interface Memory {
    readonly secret: Uint8Array;
    responses(slot: number): PermanentResponse[];
}
export declare function makePayloads(notice: Notice, entry: TaskEntry, rng: Rng): MakePayload;
export declare function permanentPayload(notice: Notice, memory: Memory): MakePayload;
export declare function tagOf(secret: Uint8Array, slot: number, index: number): string;
