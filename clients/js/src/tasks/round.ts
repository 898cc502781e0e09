// A round: what is asked of the people whose public coin falls into its share.

import { MAX_ROUNDS } from "../core/bounds.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import type { Document, Json } from "../wire/codec.js";
import { object, readFields, small, whole } from "../wire/fields.js";
import type { Ask } from "./question.js";
import { readAsk } from "./question.js";

/** What the people with a coin in [low, high), in units of 2^-64, are asked. */
export interface Round {
  readonly number: number;
  readonly ask: Ask;
  readonly low: bigint;
  readonly high: bigint;
  /** What this round was read from. */
  readonly document: Document;
}

const SHAPE = { number: small, ask: readAsk, low: whole, high: whole };

export function readRound(content: Json): Round {
  const document = object(content);
  const { number, ask, low, high } = readFields(document, "round", SHAPE);
  need(number >= 0 && number < MAX_ROUNDS, "`number` of a round must be from 0 to 65535");
  need(
    0 <= low && low < high && high <= UNIT,
    "`low` and `high` of a round must satisfy 0 <= low < high <= 2^64",
  );
  return { number, ask, low: BigInt(low), high: BigInt(high), document };
}

/** Returns whether the round asks the device with this coin. */
export function asksCoin({ low, high }: Pick<Round, "low" | "high">, coin: bigint): boolean {
  return low <= coin && coin < high;
}
