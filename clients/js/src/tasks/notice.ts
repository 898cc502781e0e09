// A notice: what a device needs of a task.  It never reads the plan.

import { readDomain } from "../core/registry.js";
import type { Domain } from "../domains/base.js";
import { CodecError, MismatchError, need } from "../errors.js";
import { checkEpsilon, stated } from "../maths/exact.js";
import type { Document } from "../wire/codec.js";
import { digest, digestBytes } from "../wire/codec.js";
import { list, object, readFields, real, small, text } from "../wire/fields.js";
import type { Collection } from "./collection.js";
import { readCollection } from "./collection.js";
import type { Round } from "./round.js";
import { readRound } from "./round.js";

const VERSION = 1;
const MAX_NAME = 200; // characters
const SHAPE = {
  name: text,
  description: text,
  epsilon: real,
  domain: readDomain,
  declares: list(text),
  opening: readRound,
  plan: object,
  version: small,
  collection: readCollection,
  distinct: small,
};

export interface Notice {
  readonly name: string;
  readonly description: string;
  readonly digest: string;
  readonly digestBytes: Uint8Array;
  readonly domain: Domain;
  readonly epsilon: string;
  readonly declares: readonly string[];
  readonly opening: Round;
  readonly collection?: Collection;
  /** Only of a longitudinal task: for how many different values it pays. */
  readonly distinct?: number;
}

export function readNotice(document: Document): Notice {
  if (document.version !== VERSION)
    throw new CodecError(`\`version\` of a task document must be ${VERSION}`);
  const task = readFields(document, "task", SHAPE, ["collection", "distinct"]);
  const { name, declares, distinct = 1 } = task;
  checkEpsilon(task.epsilon);
  const length = [...name].length;
  need(length >= 1 && length <= MAX_NAME, "`name` of a task must be text of 1 to 200 characters");
  need(
    declares.every((field) => /^(subject|public)$/.test(field)),
    "`declares` may name the fields subject, public",
  );
  need(new Set(declares).size === declares.length, "`declares` must name each field once");
  need(distinct >= 1 && distinct < 65536, "`distinct` must be from 1 to 65535");
  const notice = { ...task, digest: digest(document), digestBytes: digestBytes(document) };
  return checkRound(notice, notice.opening) && notice;
}

/**
 * Returns the round.  Refuses one that costs more than the task stated, and one of a longitudinal
 * task that asks something else than its opening round.
 */
export function checkRound(notice: Notice, round: Round): Round {
  const { distinct, opening } = notice;
  const price = stated(round.ask.epsilon) * BigInt(distinct ?? 1);
  need(
    price <= stated(notice.epsilon),
    "this round spends more than the `epsilon` that its task states",
  );
  if (distinct && round.askText !== opening.askText)
    throw new MismatchError("a longitudinal task must ask the same question in every round");
  return round;
}
