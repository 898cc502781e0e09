import { need } from "../errors.js";
import { kindOf } from "../wire/fields.js";
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
export async function load(content, depth = MAX_DEPTH) {
    const kind = kindOf(content);
    if (Object.hasOwn(KINDS, kind))
        READERS[kind] = (await KINDS[kind]()).read;
    if (!depth || typeof content !== "object")
        return;
    for (const part of Object.values(content ?? {}))
        if (typeof part === "object")
            await load(part, depth - 1);
}
export const readMechanism = reader("mechanism", MECHANISMS);
export const readEncoding = reader("encoding", ENCODINGS);
export const readFamily = reader("family", FAMILIES);
export const readDomain = reader("domain", DOMAINS);
export const readCombinator = reader("ask", COMBINATORS);
function reader(family, kinds) {
    return (document, around = []) => {
        const kind = kindOf(document);
        const read = Object.hasOwn(kinds, kind) && READERS[kind];
        need(read, `unknown ${family} kind`);
        return read(document, around);
    };
}
