// A round: what is asked of the people whose public coin falls into its share.

import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import type { Json } from "../wire/codec.js";
import { canonical } from "../wire/codec.js";
import { object, readFields, small, whole } from "../wire/fields.js";
import type { Ask } from "./question.js";
import { readAsk } from "./question.js";

/** What the people with a coin in [low, high), in units of 2^-64, are asked. */
export interface Round {
  readonly number: number;
  readonly ask: Ask;
  readonly low: bigint;
  readonly high: bigint;
  /** The canonical text of what is asked. */
  readonly askText: string;
}

const SHAPE = { number: small, ask: object, low: whole, high: whole };

export function readRound(document: Json): Round {
  const { number, ask, low, high } = readFields(document, "round", SHAPE);
  need(number >= 0 && number < 65536, "`number` of a round must be from 0 to 65535");
  need(
    0 <= low && low < high && high <= UNIT,
    "`low` and `high` of a round must satisfy 0 <= low < high <= 2^64",
  );
  const [first, last] = [BigInt(low), BigInt(high)];
  return { number, ask: readAsk(ask), low: first, high: last, askText: canonical(ask) };
}

/** Returns whether the round asks the device with this coin. */
export function asksCoin({ low, high }: Pick<Round, "low" | "high">, coin: bigint): boolean {
  return low <= coin && coin < high;
}
