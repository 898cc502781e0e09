import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { Answer, Client } from "./client.js";
import type { Address } from "./transport.js";
export interface SignedKey {
    readonly publicKey: Uint8Array;
    readonly signature: Uint8Array;
}
export interface RoundKeys {
    readonly keys: readonly SignedKey[];
    readonly setSignatures: readonly Uint8Array[];
    readonly opened?: number;
}
export declare function fetchKeys([collector, ...witnesses]: readonly [Address, ...Address[]], notice: Notice, { number }: Round): Promise<RoundKeys>;
export declare class Sealing {
    readonly notice: Notice;
    readonly round: Round;
    readonly keys: readonly SignedKey[];
    private constructor();
    static open(notice: Notice, round: Round, { keys, setSignatures }: RoundKeys): Promise<Sealing>;
    seal(envelopes: Uint8Array, token: Uint8Array): Promise<Uint8Array>;
    answer(client: Client, value: unknown): Promise<Answer>;
    get tokenBytes(): number;
    get messageBytes(): number;
}
