// The contract of a family of questions, which are made when they are asked for.

import type { Whole } from "../../wire/fields.js";
import type { Question } from "../question.js";

export interface Family {
  readonly length: number;
  at(index: number): Question;
  /** Members that stand for all: every mechanism that any of them has. */
  readonly representatives: readonly Question[];
  /** The table that all members ask about, if they ask about one. */
  readonly table?: Whole;
}
