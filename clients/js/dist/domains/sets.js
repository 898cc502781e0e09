import { anyIndex, refuse } from "./base.js";
import { need, ParameterError } from "../errors.js";
import { fields } from "../wire/fields.js";
import { readDomain } from "../core/registry.js";
export function sets(content) {
    const { items } = fields(content, "sets", { items: readDomain });
    const { find } = items;
    need(find, "the items of sets are categories or whole numbers, and declining is none of them");
    return {
        get size() {
            throw new ParameterError("a question about sets needs an encoding");
        },
        items: items.size,
        index(value) {
            const held = Array.isArray(value) || value instanceof Set ? [...value] : refuse("a set or a list of items");
            const found = held.map(find).filter((place) => place !== undefined);
            return [...new Set(found)].sort((one, other) => (one < other ? -1 : 1));
        },
        anything: (random) => [anyIndex(items, random)],
    };
}
