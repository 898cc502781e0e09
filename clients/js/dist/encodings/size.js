import { MAX_CANDIDATES } from "../core/bounds.js";
import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { list, readFields, whole } from "../wire/fields.js";
export const SHAPE = { items: whole, among: list(list(whole)) };
export function read(document) {
    const candidates = readFields(document, "size", SHAPE);
    checkCandidates(candidates);
    return {
        kind: "size",
        outputs: (domain) => narrow(BigInt(candidateCount(candidates, domain)) + 1n),
        encode: (index) => heldCandidates(candidates, index).length,
    };
}
export function checkCandidates({ items, among }) {
    need(items >= 2, "`items` must be at least 2");
    need(among.length <= MAX_CANDIDATES, `\`among\` must have from 0 to ${MAX_CANDIDATES} entries, not ${among.length}`);
    const isSet = (candidate) => candidate.every((item, i) => item < items && item > (i ? candidate[i - 1] : -1));
    need(among.every((candidate) => candidate.length && isSet(candidate)), "`among` must list sets of items, each item once and in ascending order");
    const different = new Set(among.map(String)).size;
    need(different === among.length, "`among` must not list a set twice");
}
export function candidateCount({ items, among }, domain) {
    need(domain.items === items, "`items` must be the number of items of the task's domain");
    return among.length || items;
}
export function heldCandidates({ among }, set) {
    if (!among.length)
        return set;
    const members = new Set(set);
    return [...among.keys()].filter((i) => among[i].every((item) => members.has(item)));
}
