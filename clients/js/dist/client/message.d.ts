import type { Rng } from "../core/rng.js";
import type { Index } from "../domains/base.js";
import type { Notice } from "../tasks/notice.js";
import type { Address, Question } from "../tasks/question.js";
import type { Round } from "../tasks/round.js";
export interface AddressedQuestion {
    readonly address: Address;
    readonly question: Question;
}
export type MakePayload = (asked: AddressedQuestion, index: Index, rng: Rng) => Uint8Array;
export declare function questionsFor(notice: Notice, { number, ask }: Round, deviceBytes: Uint8Array): AddressedQuestion[];
export interface MessageParts {
    readonly notice: Notice;
    readonly round: Round;
    readonly questions: readonly AddressedQuestion[];
    readonly index: Index;
    readonly makePayload?: MakePayload | undefined;
}
export declare function writeMessage(parts: MessageParts, rng: Rng): Uint8Array;
export declare function freshPayload({ question: { mechanism, encoding } }: AddressedQuestion, index: Index, rng: Rng, draw?: bigint): Uint8Array;
