// What one person is asked: a question, and the contract that it shares with choices and bundles.

import { readCombinator, readEncoding, Reading, readMechanism } from "../core/registry.js";
import type { Encoding } from "../encodings/base.js";
import { need } from "../errors.js";
import { checkEpsilon, isWithin } from "../maths/exact.js";
import type { Mechanism } from "../mechanisms/base.js";
import type { Json } from "../wire/codec.js";
import { kindOf, readFields, real } from "../wire/fields.js";

/** Where a report belongs: which member of its choice, which slot of its bundle. */
export interface Address {
  readonly member: number;
  readonly slot: number;
}

/** What a round asks of one person: a question, a choice of several, or a bundle of several. */
export interface Ask {
  /** What an answer spends, as documents write it. */
  readonly epsilon: string;
  /** What one message reveals to somebody who never sees another one of the same person. */
  readonly epsilonOnce: number;
  /** The bytes of one packed report; members of a choice are padded to the widest. */
  readonly width: number;
  /** How many reports one person makes at the most. */
  readonly slots: number;
  /** Whether a public coin decides what a person is asked. */
  readonly hasCoin: boolean;
  /** Questions that stand for all: every mechanism and every encoding that any of them has. */
  readonly representatives: readonly Question[];
  at(member: number, slot: number): Question;
  /** Returns where one person answers; `coin` gives the 64-bit public coin of a slot. */
  addresses(coin: (slot: number) => bigint, slot?: number): Address[];
}

/** One mechanism, the encoding before it if there is one, and the epsilon of both together. */
export class Question implements Ask {
  readonly slots = 1;
  readonly hasCoin = false;

  constructor(
    readonly mechanism: Mechanism,
    readonly encoding?: Encoding,
    readonly epsilon = mechanism.epsilon,
  ) {}

  get epsilonOnce(): number {
    return this.mechanism.epsilonOnce ?? +this.epsilon;
  }

  get width(): number {
    return this.mechanism.width;
  }

  get representatives(): readonly Question[] {
    return [this];
  }

  at(): Question {
    return this;
  }

  addresses(_coin: unknown, slot = 0): Address[] {
    return [{ member: 0, slot }];
  }
}

/** Returns what a document asks. */
export function readAsk(document: Json, reading = new Reading()): Ask {
  if (kindOf(document) !== "question") return readCombinator(document, reading);
  const shape = {
    mechanism: (content: Json) => readMechanism(content, reading),
    epsilon: real,
    encoding: readEncoding,
  };
  const { mechanism, epsilon, encoding } = readFields(document, "question", shape, ["encoding"]);
  checkEpsilon(epsilon);
  // A deterministic encoding neither adds to what the mechanism reveals nor hides any of it.
  const ratio = encoding?.worstRatio?.(mechanism) ?? mechanism.worstRatio;
  need(isWithin(ratio, epsilon), "this question spends more than the `epsilon` it states");
  return new Question(mechanism, encoding, epsilon);
}
