// A bundle: one person makes several reports, in numbered slots, for one charge.

import { need } from "../errors.js";
import { nearest, stated } from "../maths/exact.js";
import type { Json } from "../wire/codec.js";
import { list, readFields } from "../wire/fields.js";
import type { Address, Ask, Question } from "./question.js";
import { readAsk } from "./question.js";

/** Several reports of one person; the budgets of the parts add up. */
export class Bundle implements Ask {
  readonly epsilon: string;
  readonly epsilonOnce: number;
  readonly width: number;
  readonly slots: number;
  readonly hasCoin: boolean;
  readonly representatives: readonly Question[];

  constructor(readonly parts: readonly Ask[]) {
    this.epsilon = nearest(parts.reduce((total, part) => total + stated(part.epsilon), 0n));
    this.epsilonOnce = parts.reduce((total, part) => total + part.epsilonOnce, 0);
    this.width = parts.reduce((widest, part) => Math.max(widest, part.width), 0);
    this.slots = parts.length;
    this.hasCoin = parts.some((part) => part.hasCoin);
    this.representatives = parts.flatMap((part) => part.representatives);
  }

  at(member: number, slot: number): Question {
    return this.parts[slot]!.at(member, 0);
  }

  addresses(coin: (slot: number) => bigint): Address[] {
    return this.parts.flatMap((part, slot) => part.addresses(coin, slot));
  }
}

export function read(document: Json, around: readonly string[]): Bundle {
  need(!around.includes("bundle"), "a bundle must not contain another bundle");
  const readPart = (part: Json): Ask => readAsk(part, [...around, "bundle"]);
  const { parts } = readFields(document, "bundle", { parts: list(readPart) });
  need(parts.length, "`parts` of a bundle must not be empty");
  return new Bundle(parts);
}
