import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { fields, list, whole } from "../wire/fields.js";
export const SHAPE = { items: whole, among: list(list(whole)) };
export function size(content) {
    const asked = checked(fields(content, "size", SHAPE));
    return {
        outputs: (domain) => narrow(BigInt(number(asked, domain)) + 1n),
        encode: (index) => held(asked, index).length,
    };
}
export function checked(asked) {
    const { items, among } = asked;
    need(items >= 2, "a set is of at least two items");
    need(among.every((one) => one.length && one.every((item, i) => item < items && item > (i ? one[i - 1] : -1))), "a candidate lists the items of one set, each once and in ascending order");
    need(new Set(among.map(String)).size === among.length, "no two candidates are the same set");
    return asked;
}
export function number({ items, among }, domain) {
    need(domain.items === items, "this question asks about sets of other items than the domain has");
    return among.length || items;
}
export function held({ among }, set) {
    if (!among.length)
        return set;
    const has = new Set(set);
    return among.flatMap((one, place) => (one.every((item) => has.has(item)) ? [place] : []));
}
