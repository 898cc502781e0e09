import type { Rng } from "../core/rng.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { Document } from "../wire/codec.js";
import type { Accepts } from "./accepts.js";
import type { Ledger } from "./ledger.js";
import type { LedgerFile, TaskEntry } from "./ledger_file.js";
import type { MakePayload } from "./message.js";
import type { Sealing } from "./sealing.js";
export type Notify = (reason: string) => void;
export interface ClientOptions {
    token?: string | undefined;
    accepts?: Accepts | undefined;
    notify?: Notify | undefined;
    origin?: string;
}
interface Extra {
    makePayloads(notice: Notice, entry: TaskEntry, rng: Rng): MakePayload | undefined;
    checkNotice?(notice: Notice): void;
    checkEntry?(entry: TaskEntry): void;
    joinToken?(notice: Notice, round: Round, envelopes: Uint8Array, entry: TaskEntry): Uint8Array;
}
export interface Answer {
    readonly message: Uint8Array;
    readonly outside: string | undefined;
}
export declare class Client {
    #private;
    readonly notice: Notice;
    readonly ledger: Ledger;
    readonly extra?: Extra | undefined;
    readonly token: string | undefined;
    private constructor();
    static open(task: string | Notice, ledger: Ledger, options?: ClientOptions): Promise<Client>;
    round(document: Document): Promise<Round>;
    coin(): Promise<bigint>;
    checkTask(round: Round): Promise<void>;
    check(round?: Round): Promise<void>;
    answer(value: unknown, round?: Round, sealing?: Sealing): Promise<Uint8Array>;
    respond(file: LedgerFile, value: unknown, round: Round, sealed?: Answer): Answer;
    resend(round?: Round): Promise<Uint8Array>;
    agree(): Promise<void>;
    explain(round?: Round, language?: string): Promise<string>;
}
export declare function noticeOf(text: string): Promise<Notice>;
export {};
