import type { Book } from "./ledger_file.js";
import type { Content } from "../wire/codec.js";
import type { Ledger } from "./ledger.js";
import type { Memory } from "./permanent.js";
import type { Report } from "./message.js";
import type { Notice, Round } from "../tasks/notice.js";
export declare class Client {
    #private;
    readonly notice: Notice;
    readonly ledger: Ledger;
    readonly token?: string | undefined;
    readonly remembering?: ((notice: Notice, memory: Memory) => Report) | undefined;
    private constructor();
    static open(task: string, ledger: Ledger, token?: string): Promise<Client>;
    round(content: Content): Promise<Round>;
    coin(): Promise<bigint>;
    check(round?: Round): Promise<void>;
    answer(value: unknown, round?: Round): Promise<Uint8Array>;
    respond(book: Book, value: unknown, round: Round): Uint8Array;
    resend(round?: Round): Promise<Uint8Array>;
    explain(round?: Round): Promise<string>;
}
