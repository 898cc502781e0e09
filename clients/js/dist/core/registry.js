import { CodecError, need } from "../errors.js";
import { canonical, grouped } from "../wire/codec.js";
import { kindOf } from "../wire/fields.js";
import { MAX_DOCUMENT_MECHANISMS, MAX_DOCUMENT_MEMBERS } from "./bounds.js";
const MECHANISMS = {
    affine: () => import("../mechanisms/affine.js"),
    affine_prefix: () => import("../mechanisms/affine_prefix.js"),
    blh: () => import("../mechanisms/blh.js"),
    bloom: () => import("../mechanisms/bloom.js"),
    duchi: () => import("../mechanisms/duchi.js"),
    grr: () => import("../mechanisms/grr.js"),
    hadamard: () => import("../mechanisms/hadamard.js"),
    hybrid: () => import("../mechanisms/hybrid.js"),
    olh: () => import("../mechanisms/olh.js"),
    oue: () => import("../mechanisms/oue.js"),
    piecewise: () => import("../mechanisms/piecewise.js"),
    rmp: () => import("../mechanisms/rmp.js"),
    square_wave: () => import("../mechanisms/square_wave.js"),
    subset: () => import("../mechanisms/subset.js"),
    sue: () => import("../mechanisms/sue.js"),
    the: () => import("../mechanisms/the.js"),
};
const ENCODINGS = {
    attribute: () => import("../encodings/attribute.js"),
    cell: () => import("../encodings/cell.js"),
    holds: () => import("../encodings/holds.js"),
    sample: () => import("../encodings/sample.js"),
    segment: () => import("../encodings/segment.js"),
    size: () => import("../encodings/size.js"),
    view: () => import("../encodings/view.js"),
};
const FAMILIES = {
    each_item: () => import("../tasks/families/each_item.js"),
    layers: () => import("../tasks/families/layers.js"),
    views: () => import("../tasks/families/views.js"),
};
const DOMAINS = {
    bits: () => import("../domains/bits.js"),
    buckets: () => import("../domains/buckets.js"),
    categories: () => import("../domains/categories.js"),
    integers: () => import("../domains/integers.js"),
    lists: () => import("../domains/lists.js"),
    numbers: () => import("../domains/numbers.js"),
    records: () => import("../domains/records.js"),
    services: () => import("../domains/tables.js"),
    sets: () => import("../domains/sets.js"),
    strings: () => import("../domains/strings.js"),
};
const COMBINATORS = {
    bundle: () => import("../tasks/bundle.js"),
    choice: () => import("../tasks/choice.js"),
};
const KINDS = { ...MECHANISMS, ...ENCODINGS, ...FAMILIES, ...DOMAINS, ...COMBINATORS };
const READERS = {};
const MAX_DEPTH = 8;
export async function load(content) {
    const named = new Set();
    findKinds(content, named, MAX_DEPTH);
    for (const kind of named)
        READERS[kind] = (await KINDS[kind]()).read;
}
function findKinds(content, named, depth) {
    const kind = kindOf(content);
    if (Object.hasOwn(KINDS, kind))
        named.add(kind);
    if (!depth || typeof content !== "object")
        return;
    for (const part of Object.values(content ?? {}))
        if (typeof part === "object")
            findKinds(part, named, depth - 1);
}
export class Reading {
    #made = new Map();
    #around = [];
    #mechanisms = 0;
    #members = 0;
    within(kind, read) {
        need(!this.#around.includes(kind), `a ${kind} must not contain another ${kind}`);
        this.#around.push(kind);
        const parts = read();
        this.#around.pop();
        return parts;
    }
    once(content, read) {
        const text = canonical(content);
        if (!this.#made.has(text))
            this.#made.set(text, read());
        return this.#made.get(text);
    }
    countMechanism() {
        this.#mechanisms += 1;
        if (this.#mechanisms > MAX_DOCUMENT_MECHANISMS)
            throw new CodecError(`a document may have at most ${MAX_DOCUMENT_MECHANISMS} different mechanisms`);
    }
    countMembers(count) {
        this.#members += count;
        if (this.#members > MAX_DOCUMENT_MEMBERS)
            throw new CodecError(`the families of a document may have at most ${grouped(MAX_DOCUMENT_MEMBERS)} members`);
    }
}
export function readMechanism(document, reading = new Reading()) {
    return reading.once(document, () => {
        const read = readerOf("mechanism", MECHANISMS, document);
        reading.countMechanism();
        return read(document, reading);
    });
}
export function readFamily(document, reading = new Reading()) {
    return reading.once(document, () => {
        const read = readerOf("family", FAMILIES, document);
        return read(document, reading);
    });
}
export function readEncoding(document, reading = new Reading()) {
    return readerOf("encoding", ENCODINGS, document)(document, reading);
}
export function readDomain(document, reading = new Reading()) {
    return readerOf("domain", DOMAINS, document)(document, reading);
}
export function readCombinator(document, reading) {
    return readerOf("ask", COMBINATORS, document)(document, reading);
}
function readerOf(family, kinds, document) {
    const kind = kindOf(document);
    const read = Object.hasOwn(kinds, kind) && READERS[kind];
    need(read, `unknown ${family} kind`);
    return read;
}
