// What the later rounds of a task may be.  The task's document states it, so that a device can
// refuse a round that the task has not announced.  Loaded when a task states them.

import { MAX_MESSAGE_BYTES, MAX_ROUNDS } from "../core/bounds.js";
import { MismatchError, need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import { list, readFields, small, text } from "../wire/fields.js";
import type { Round } from "./round.js";

export interface RoundLimits {
  /** How many rounds the task has, the opening one included. */
  readonly count: number;
  /** The most bytes of one packed report. */
  readonly width: number;
  /** The kinds of mechanisms that later rounds may use, in alphabetical order. */
  readonly mechanisms: readonly string[];
  readonly encodings: readonly string[];
  /** Refuses a later round that lies outside of the limits. */
  check(round: Round): void;
}

const SHAPE = { count: small, width: small, mechanisms: list(text), encodings: list(text) };

export function read(document: Json): RoundLimits {
  const limits = readFields(document, "roundlimits", SHAPE);
  const { count, width, mechanisms, encodings } = limits;
  need(
    count >= 2 && count <= MAX_ROUNDS,
    `\`count\` must be a whole number from 2 to ${MAX_ROUNDS}`,
  );
  need(
    width >= 1 && width <= MAX_MESSAGE_BYTES,
    `\`width\` must be a whole number from 1 to ${MAX_MESSAGE_BYTES}`,
  );
  need(mechanisms.length, "`mechanisms` must have at least 1 entry");
  for (const [name, kinds] of Object.entries({ mechanisms, encodings })) {
    need(!kinds.includes(""), `each entry of \`${name}\` must be text that is not empty`);
    const isSorted = kinds.every((kind, i) => !i || kind > kinds[i - 1]!);
    need(isSorted, `\`${name}\` must be sorted and differ`);
  }
  return { ...limits, check: (round) => checkLaterRound(limits, round) };
}

type Limits = Omit<RoundLimits, "check">;

function checkLaterRound(limits: Limits, { number, ask }: Round): void {
  const { count, width, mechanisms, encodings } = limits;
  if (number >= count)
    throw new MismatchError(
      `the task states ${count} rounds, and there is no round ${number} in it`,
    );
  if (ask.width > width)
    throw new MismatchError(
      `the task states reports of at most ${width} bytes in later rounds, ` +
        `and this round asks for ${ask.width}`,
    );
  for (const { mechanism, encoding } of ask.representatives) {
    if (!mechanisms.includes(mechanism.kind))
      throw new MismatchError("this round randomises by a mechanism that the task lacks");
    if (encoding && !encodings.includes(encoding.kind))
      throw new MismatchError("this round uses an encoding that the task lacks");
  }
}
