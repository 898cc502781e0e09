// A notice: what a device needs of a task.  Of the plan it reads only the kind.

import { base64url } from "../bytes.js";
import {
  MAX_COLUMN_NAME,
  MAX_DESCRIPTION,
  MAX_MESSAGE_BYTES,
  MAX_REMEMBERED_BYTES,
  MAX_STEPS,
  MAX_TASK_NAME,
} from "../core/bounds.js";
import { readDomain, readRoundLimits } from "../core/registry.js";
import { plainText } from "../core/settings.js";
import type { Domain } from "../domains/base.js";
import { CodecError, MismatchError, need } from "../errors.js";
import { checkEpsilon, stated } from "../maths/exact.js";
import type { CanonicalDocument, Document, Json } from "../wire/codec.js";
import { canonical, fingerprintOf, grouped, isDocument } from "../wire/codec.js";
import type { EnvelopeVersion } from "../wire/envelope.js";
import { list, readFields, real, small, text } from "../wire/fields.js";
import type { Collection } from "./collection.js";
import { readCollection } from "./collection.js";
import type { Round } from "./round.js";
import { readRound } from "./round.js";
import type { RoundLimits } from "./round_limits.js";
import type { Shuffle } from "./shuffle.js";

const VERSION = 1;
type Shape = typeof SHAPE & { shuffle: (document: Json) => Shuffle };
// At least as many bytes as an envelope of a version takes beside public part and payload.
const ENVELOPE_BYTES = { 1: 64, 2: 80 };
const SHAPE = {
  name: text,
  description: text,
  epsilon: real,
  domain: readDomain,
  declares: list(text),
  opening: readRound,
  plan: readPlanKind,
  version: small,
  collection: readCollection,
  distinct: small,
  rounds: (content: Json) => readRoundLimits(content),
};

export interface Notice {
  readonly name: string;
  readonly description: string;
  readonly digest: string;
  readonly digestBytes: Uint8Array;
  /** The SHA-256 of the document, of which the digest is the beginning. */
  readonly fingerprint: Uint8Array;
  /** The version of the envelopes in all messages of the task. */
  readonly envelopeVersion: EnvelopeVersion;
  readonly domain: Domain;
  readonly domainDocument: Document;
  readonly epsilon: string;
  readonly declares: readonly string[];
  readonly opening: Round;
  /** The kind of the plan, as the document names it. */
  readonly plan: string;
  readonly collection?: Collection;
  /** Only of a longitudinal task: for how many different values it pays. */
  readonly distinct?: number;
  /** What rounds after the opening may be, if there are such. */
  readonly rounds?: RoundLimits;
  readonly shuffle?: Shuffle;
}

/** Returns the notice in a document; that of a shuffled task needs the reader of shuffles. */
export function readNotice(
  { document, canonicalText }: CanonicalDocument,
  shuffle?: (document: Json) => Shuffle,
): Notice {
  if (document.version !== VERSION)
    throw new CodecError(`\`version\` of a task document must be ${VERSION}`);
  const optional = ["collection", "distinct", "rounds"];
  const shape = shuffle ? { ...SHAPE, shuffle } : SHAPE;
  const task = readFields(document, "task", shape as Shape, optional);
  const { name, declares, opening, distinct = 1 } = task;
  checkEpsilon(task.epsilon);
  need(name, "`name` must be text that is not empty");
  plainText("name", name, MAX_TASK_NAME);
  plainText("description", task.description, MAX_DESCRIPTION);
  need(
    declares.every((field) => /^(subject|public)$/.test(field)),
    "`declares` may name the fields subject, public",
  );
  need(new Set(declares).size === declares.length, "`declares` must name each field once");
  need(distinct >= 1 && distinct < 65536, "`distinct` must be from 1 to 65535");
  need(opening.number === 0, "`opening` must be round number 0");
  const fingerprint = fingerprintOf(canonicalText);
  const digestBytes = fingerprint.slice(0, 16);
  const notice: Notice = {
    ...task,
    domainDocument: document.domain as Document,
    digest: base64url(digestBytes),
    digestBytes,
    fingerprint,
    envelopeVersion: task.shuffle ? 2 : 1,
  };
  checkSizes(notice, opening);
  notice.shuffle?.check(notice, opening.ask);
  return notice;
}

/** Returns the round; refuses one that the document neither states nor allows. */
export function checkRound(notice: Notice, round: Round): Round {
  const { distinct, opening, rounds } = notice;
  checkSizes(notice, round);
  if (round === opening) return round;
  if (canonical(round.document.ask!) !== canonical(opening.document.ask!))
    notice.shuffle?.check(notice, round.ask);
  if (!round.number && canonical(round.document) !== canonical(opening.document))
    throw new MismatchError("this is another opening round than the task states");
  if (distinct) {
    if (canonical(round.document.ask!) !== canonical(opening.document.ask!))
      throw new MismatchError("a longitudinal task asks the same question in every round");
  } else if (round.number) {
    if (!rounds)
      throw new MismatchError("the task states an opening round only, and this is a later one");
    rounds.check(round);
  }
  return round;
}

/** Refuses a task whose document and domain disagree about a public part. */
export function checkPublic({ domain, declares }: Notice): void {
  const hasPublicColumns = Boolean(domain.publicNames?.length);
  const isDeclared = declares.includes("public");
  if (hasPublicColumns && !isDeclared)
    throw new MismatchError("the task asks for public columns, but declares no public part");
  if (isDeclared && !hasPublicColumns)
    throw new MismatchError("the task declares a public part, but asks for no public columns");
}

/** Refuses a round that costs too much, and one whose messages are too long or slow to make. */
function checkSizes(notice: Notice, { ask }: Round): void {
  const { domain, epsilon, distinct, envelopeVersion } = notice;
  need(
    stated(ask.epsilon) * BigInt(distinct ?? 1) <= stated(epsilon),
    "this round spends more than the `epsilon` that its task states",
  );
  const envelopeBytes = ENVELOPE_BYTES[envelopeVersion] + (domain.publicBytes ?? 0) + ask.width;
  const bytes = ask.slots * envelopeBytes;
  need(
    bytes <= MAX_MESSAGE_BYTES,
    `a message of this round may have up to ${grouped(bytes)} bytes, ` +
      `and ${grouped(MAX_MESSAGE_BYTES)} are allowed`,
  );
  need(
    !distinct || ask.slots * ask.width <= MAX_REMEMBERED_BYTES,
    `a longitudinal answer may have up to ${grouped(MAX_REMEMBERED_BYTES)} bytes of reports, ` +
      `and this round asks for ${grouped(ask.slots * ask.width)}`,
  );
  const most = ask.representatives.reduce((steps, { mechanism }) => {
    return Math.max(steps, mechanism.steps ?? 1);
  }, 1);
  need(
    ask.slots * most <= MAX_STEPS,
    `a message of this round may take ${grouped(ask.slots * most)} draws one after another, ` +
      `and ${grouped(MAX_STEPS)} are allowed`,
  );
}

/** Returns the kind of a plan, which stays unread otherwise. */
function readPlanKind(document: Json): string {
  if (!isDocument(document) || typeof document.kind !== "string")
    throw new CodecError("a task must have a plan");
  const { kind } = document;
  plainText("kind", kind, MAX_COLUMN_NAME);
  return kind;
}
