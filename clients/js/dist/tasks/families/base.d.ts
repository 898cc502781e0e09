import type { Whole } from "../../wire/fields.js";
import type { Question } from "../question.js";
export interface Family {
    readonly length: number;
    at(index: number): Question;
    readonly representatives: readonly Question[];
    readonly table?: Whole;
}
