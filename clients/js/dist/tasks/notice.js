import { canonical, digest, digestBytes } from "../wire/codec.js";
import { total } from "../core/coin.js";
import { readCollection } from "./collection.js";
import { rounded, stated } from "../maths/decimal.js";
import { CodecError, MismatchError, need } from "../errors.js";
import { checkEpsilon, within } from "../maths/exact.js";
import { fields, kindOf, list, object, real, small, text, whole } from "../wire/fields.js";
import { readDomain, readEncoding, readFamily, readMechanism } from "../core/registry.js";
export function readNotice(content) {
    if (content.version !== 1)
        throw new CodecError("this software reads task documents of version 1");
    const task = fields(content, "task", {
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
    }, ["collection", "distinct"]);
    const { name, declares, distinct = 1 } = task;
    checkEpsilon(task.epsilon);
    need(name !== "" && [...name].length <= 200, "a task needs a name of at most 200 characters");
    const known = declares.every((one, i) => /^(subject|public)$/.test(one) && declares.indexOf(one) === i);
    need(known, "a task may declare each of subject, public once");
    need(distinct >= 1 && distinct < 65536, "a longitudinal task declares from 1 to 65,535 distinct values");
    const notice = { ...task, digest: digest(content), digestBytes: digestBytes(content) };
    checkRound(notice, notice.opening);
    return notice;
}
export function checkRound(notice, asked) {
    const { distinct, opening } = notice;
    const price = stated(asked.ask.epsilon) * BigInt(distinct ?? 1);
    need(price <= stated(notice.epsilon), "this round spends more than the epsilon that its task states");
    if (distinct && asked.wording !== opening.wording) {
        throw new MismatchError("all rounds of a longitudinal task ask the same");
    }
    return asked;
}
export function readRound(content) {
    const { number, ask, low, high } = fields(content, "round", { number: small, ask: object, low: whole, high: whole });
    need(number >= 0 && number < 65536, "a round's number has 16 bits");
    need(0 <= low && low < high && high <= 1n << 64n, "a round claims a part of the coins, 0 <= low < high <= 2^64");
    return { number, ask: readAsk(ask), low: BigInt(low), high: BigInt(high), wording: canonical(ask) };
}
function readAsk(content, around = []) {
    const kind = kindOf(content);
    need(!around.includes(kind), "a report has one member and one slot: choices and bundles nest once");
    const inner = (part) => readAsk(part, [...around, kind]);
    if (kind === "choice")
        return readChoice(content, inner);
    if (kind === "bundle")
        return readBundle(content, inner);
    return readQuestion(content);
}
function readQuestion(content) {
    const read = fields(content, "question", { mechanism: readMechanism, epsilon: real, encoding: readEncoding }, [
        "encoding",
    ]);
    checkEpsilon(read.epsilon);
    const ratio = read.encoding?.ratio?.(read.mechanism) ?? read.mechanism.ratio;
    need(within(ratio, read.epsilon), "this question spends more than the epsilon it states");
    return { ...read, width: read.mechanism.width };
}
function readChoice(content, inner) {
    const { members, weights } = fields(content, "choice", {
        members: (part) => (Array.isArray(part) ? listed(inner)(part) : readFamily(part)),
        weights: list(small),
    });
    const fit = !weights.length || (weights.length === members.length && weights.every((weight) => weight >= 1));
    const bounded = fit && total({ members, weights }) < 2 ** 32;
    need(bounded, "a choice needs one positive whole weight for every member, below 2^32 together");
    const different = Array.isArray(members) ? members : (members.different ?? [members.at(0)]);
    const dearest = different.reduce((most, one) => (stated(one.epsilon) > stated(most.epsilon) ? one : most));
    return { members, different, weights, epsilon: dearest.epsilon, width: widest(different) };
}
function readBundle(content, inner) {
    const { parts } = fields(content, "bundle", { parts: listed(inner) });
    const epsilon = rounded(parts.reduce((sum, part) => sum + stated(part.epsilon), 0n));
    return { parts, epsilon, width: widest(parts) };
}
function widest(parts) {
    return parts.reduce((most, part) => Math.max(most, part.width), 0);
}
function listed(inner) {
    return (parts) => {
        need(Array.isArray(parts) && parts.length, "a choice or bundle lists at least one question");
        return parts.map(inner);
    };
}
