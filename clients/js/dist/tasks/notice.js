import { base64url } from "../bytes.js";
import { MAX_COLUMN_NAME, MAX_DESCRIPTION, MAX_MESSAGE_BYTES, MAX_REMEMBERED_BYTES, MAX_STEPS, MAX_TASK_NAME, } from "../core/bounds.js";
import { readDomain } from "../core/registry.js";
import { plainText } from "../core/settings.js";
import { CodecError, MismatchError, need } from "../errors.js";
import { checkEpsilon, stated } from "../maths/exact.js";
import { canonical, fingerprintOf, grouped, isDocument } from "../wire/codec.js";
import { list, readFields, real, small, text } from "../wire/fields.js";
import { readCollection } from "./collection.js";
import { readRound } from "./round.js";
import { checkLaterRound, readRoundLimits } from "./round_limits.js";
const VERSION = 1;
const ENVELOPE_BYTES = 80;
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
    rounds: readRoundLimits,
};
export function readNotice({ document, canonicalText }, shuffle) {
    if (document.version !== VERSION)
        throw new CodecError(`\`version\` of a task document must be ${VERSION}`);
    const optional = ["collection", "distinct", "rounds"];
    const shape = shuffle ? { ...SHAPE, shuffle } : SHAPE;
    const task = readFields(document, "task", shape, optional);
    const { name, declares, opening, distinct = 1 } = task;
    checkEpsilon(task.epsilon);
    need(name, "`name` must be text that is not empty");
    plainText("name", name, MAX_TASK_NAME);
    plainText("description", task.description, MAX_DESCRIPTION);
    need(declares.every((field) => /^(subject|public)$/.test(field)), "`declares` may name the fields subject, public");
    need(new Set(declares).size === declares.length, "`declares` must name each field once");
    need(distinct >= 1 && distinct < 65536, "`distinct` must be from 1 to 65535");
    need(opening.number === 0, "`opening` must be round number 0");
    const fingerprint = fingerprintOf(canonicalText);
    const digestBytes = fingerprint.slice(0, 16);
    const domainDocument = document.domain;
    const digest = base64url(digestBytes);
    const notice = { ...task, domainDocument, digest, digestBytes, fingerprint };
    checkSizes(notice, opening);
    notice.shuffle?.check(notice, opening.ask);
    return notice;
}
export function checkRound(notice, round) {
    const { distinct, opening, rounds } = notice;
    checkSizes(notice, round);
    if (round === opening)
        return round;
    if (canonical(round.document.ask) !== canonical(opening.document.ask))
        notice.shuffle?.check(notice, round.ask);
    if (!round.number && canonical(round.document) !== canonical(opening.document))
        throw new MismatchError("this is another opening round than the task states");
    if (distinct) {
        if (canonical(round.document.ask) !== canonical(opening.document.ask))
            throw new MismatchError("a longitudinal task asks the same question in every round");
    }
    else if (round.number) {
        if (!rounds)
            throw new MismatchError("the task states an opening round only, and this is a later one");
        checkLaterRound(rounds, round);
    }
    return round;
}
export function checkPublic({ domain, declares }) {
    const hasPublicColumns = Boolean(domain.publicNames?.length);
    const isDeclared = declares.includes("public");
    if (hasPublicColumns && !isDeclared)
        throw new MismatchError("the task asks for public columns, but declares no public part");
    if (isDeclared && !hasPublicColumns)
        throw new MismatchError("the task declares a public part, but asks for no public columns");
}
function checkSizes({ domain, epsilon, distinct }, { ask }) {
    need(stated(ask.epsilon) * BigInt(distinct ?? 1) <= stated(epsilon), "this round spends more than the `epsilon` that its task states");
    const bytes = ask.slots * (ENVELOPE_BYTES + (domain.publicBytes ?? 0) + ask.width);
    need(bytes <= MAX_MESSAGE_BYTES, `a message of this round may have up to ${grouped(bytes)} bytes, ` +
        `and ${grouped(MAX_MESSAGE_BYTES)} are allowed`);
    need(!distinct || ask.slots * ask.width <= MAX_REMEMBERED_BYTES, `a longitudinal answer may have up to ${grouped(MAX_REMEMBERED_BYTES)} bytes of reports, ` +
        `and this round asks for ${grouped(ask.slots * ask.width)}`);
    const most = ask.representatives.reduce((steps, { mechanism }) => {
        return Math.max(steps, mechanism.steps ?? 1);
    }, 1);
    need(ask.slots * most <= MAX_STEPS, `a message of this round may take ${grouped(ask.slots * most)} draws one after another, ` +
        `and ${grouped(MAX_STEPS)} are allowed`);
}
function readPlanKind(document) {
    if (!isDocument(document) || typeof document.kind !== "string")
        throw new CodecError("a task must have a plan");
    const { kind } = document;
    plainText("kind", kind, MAX_COLUMN_NAME);
    return kind;
}
