import { need } from "../errors.js";
import { fields, whole } from "../wire/fields.js";
import { number } from "./size.js";
export function holds(content) {
    const { items, item } = fields(content, "holds", { items: whole, item: whole });
    return holding(items, item);
}
export function holding(items, item) {
    need(item >= 0 && item < items, "this question asks about an item that there is not");
    return {
        outputs(domain) {
            number({ items, among: [] }, domain);
            return 2;
        },
        encode: (index) => +index.includes(item),
    };
}
