import type { Index } from "../domains/base.js";
import type { Random } from "../core/rng.js";
import type { Notice, Question, Round } from "../tasks/notice.js";
export interface Asked {
    readonly member: number;
    readonly slot: number;
    readonly question: Question;
}
export declare function questions(notice: Notice, round: Round, kept: Uint8Array): Asked[];
export type Report = (asked: Asked, index: Index, random: Random) => Uint8Array;
export declare function message(notice: Notice, round: Round, asked: Asked[], index: Index, random: Random, report?: Report): Uint8Array;
