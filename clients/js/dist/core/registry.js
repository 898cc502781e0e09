import { need } from "../errors.js";
import { kindOf } from "../wire/fields.js";
const unary = () => import("../mechanisms/unary.js");
const olh = () => import("../mechanisms/olh.js");
const affine = () => import("../mechanisms/affine.js");
const window = () => import("../mechanisms/window.js");
const range = () => import("../domains/real_range.js");
const MECHANISMS = {
    grr: () => import("../mechanisms/grr.js"),
    sue: unary,
    oue: unary,
    the: unary,
    blh: olh,
    olh,
    rmp: olh,
    affine,
    affine_prefix: affine,
    bloom: () => import("../mechanisms/bloom.js"),
    hadamard: () => import("../mechanisms/hadamard.js"),
    subset: () => import("../mechanisms/subset.js"),
    duchi: window,
    piecewise: window,
    square_wave: window,
    hybrid: () => import("../mechanisms/hybrid.js"),
};
const ENCODINGS = {
    attribute: () => import("../encodings/attribute.js"),
    segment: () => import("../encodings/segment.js"),
    sample: () => import("../encodings/sample.js"),
    size: () => import("../encodings/size.js"),
    holds: () => import("../encodings/holds.js"),
    view: () => import("../encodings/view.js"),
    cell: () => import("../encodings/cell.js"),
};
const FAMILIES = {
    each_item: () => import("../tasks/families/each_item.js"),
    views: () => import("../tasks/families/views.js"),
    layers: () => import("../tasks/families/layers.js"),
};
const DOMAINS = {
    categories: () => import("../domains/categories.js"),
    integers: () => import("../domains/integers.js"),
    numbers: range,
    buckets: range,
    records: () => import("../domains/records.js"),
    bits: () => import("../domains/bits.js"),
    strings: () => import("../domains/strings.js"),
    sets: () => import("../domains/sets.js"),
    lists: () => import("../domains/lists.js"),
    services: () => import("../domains/tables.js"),
};
const HOMES = { ...MECHANISMS, ...ENCODINGS, ...FAMILIES, ...DOMAINS };
const LOADED = {};
export async function load(content, depth = 8) {
    const kind = kindOf(content);
    if (Object.hasOwn(HOMES, kind))
        LOADED[kind] = (await HOMES[kind]())[kind];
    if (depth && typeof content === "object")
        for (const part of Object.values(content ?? {}))
            if (typeof part === "object")
                await load(part, depth - 1);
}
export const readMechanism = reader("mechanism", MECHANISMS);
export const readEncoding = reader("encoding", ENCODINGS);
export const readFamily = reader("family", FAMILIES);
export const readDomain = reader("domain", DOMAINS);
function reader(family, homes) {
    return (content) => {
        const kind = kindOf(content);
        const read = Object.hasOwn(homes, kind) && LOADED[kind];
        need(read, `unknown kind of ${family}`);
        return read(content);
    };
}
