import type { Question } from "../question.js";
export interface Family {
    readonly length: number;
    at(index: number): Question;
    readonly representatives: readonly Question[];
}
