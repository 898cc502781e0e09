// A bundle: one person makes several reports, in numbered slots, for one charge.

import { MAX_SLOTS } from "../core/bounds.js";
import type { Reading } from "../core/registry.js";
import { need } from "../errors.js";
import { nearest, stated } from "../maths/exact.js";
import type { Json } from "../wire/codec.js";
import { lengthOf, list, readFields } from "../wire/fields.js";
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

export function read(document: Json, reading: Reading): Bundle {
  const count = lengthOf(document, "parts");
  need(count > 0 && count <= MAX_SLOTS, `\`parts\` must have from 1 to ${MAX_SLOTS} entries`);
  const shape = { parts: list((part) => readAsk(part, reading)) };
  return reading.within("bundle", () => new Bundle(readFields(document, "bundle", shape).parts));
}
