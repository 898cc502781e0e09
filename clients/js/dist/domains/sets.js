import { readDomain } from "../core/registry.js";
import { need, ParameterError } from "../errors.js";
import { readFields } from "../wire/fields.js";
import { randomIndex, refuse } from "./base.js";
export function read(document) {
    const { items } = readFields(document, "sets", { items: readDomain });
    const { find } = items;
    need(find, "`items` of sets must be integers, or categories that are not declinable");
    return {
        facts: { kind: "sets", count: items.size },
        get size() {
            throw new ParameterError("a question about sets needs an `encoding`");
        },
        items: items.size,
        index(value) {
            const isSet = Array.isArray(value) || value instanceof Set;
            const members = isSet ? [...value] : refuse("a set or a list of items");
            const indices = members.map(find).filter((index) => index !== undefined);
            return [...new Set(indices)].sort((left, right) => (left < right ? -1 : 1));
        },
        randomIndex: (rng) => [randomIndex(items, rng)],
    };
}
