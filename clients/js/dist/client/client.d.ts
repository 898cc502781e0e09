import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { Document } from "../wire/codec.js";
import type { Ledger } from "./ledger.js";
import type { LedgerFile } from "./ledger_file.js";
import type { MakePayload } from "./message.js";
import type { Memory } from "./permanent.js";
export declare class Client {
    #private;
    readonly notice: Notice;
    readonly ledger: Ledger;
    readonly token?: string | undefined;
    readonly permanentPayload?: ((notice: Notice, memory: Memory) => MakePayload) | undefined;
    private constructor();
    static open(task: string, ledger: Ledger, token?: string): Promise<Client>;
    round(document: Document): Promise<Round>;
    coin(): Promise<bigint>;
    check(round?: Round): Promise<void>;
    answer(value: unknown, round?: Round): Promise<Uint8Array>;
    respond(file: LedgerFile, value: unknown, round: Round): Uint8Array;
    resend(round?: Round): Promise<Uint8Array>;
    explain(round?: Round): Promise<string>;
}
