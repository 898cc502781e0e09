import { need } from "../errors.js";
import { readFields, whole } from "../wire/fields.js";
import { candidateCount } from "./size.js";
export function read(document) {
    const { items, item } = readFields(document, "holds", { items: whole, item: whole });
    return holds(items, item);
}
export function holds(items, item) {
    need(item >= 0 && item < items, "`item` must be at least 0 and below `items`");
    return {
        kind: "holds",
        outputs(domain) {
            candidateCount({ items, among: [] }, domain);
            return 2;
        },
        encode: (index) => +index.includes(item),
    };
}
