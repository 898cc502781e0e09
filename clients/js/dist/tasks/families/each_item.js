import { need } from "../../errors.js";
import { fields, list, small } from "../../wire/fields.js";
import { readMechanism } from "../../core/registry.js";
import { holding } from "../../encodings/holds.js";
export function each_item(content) {
    const read = fields(content, "each_item", { mechanism: readMechanism, items: small, among: list(small) });
    const { mechanism, items, among } = read;
    need(mechanism.size === 2, "having an item is a matter of yes or no");
    const some = new Set(among).size === among.length && among.every((item) => item >= 0 && item < items);
    need(items > 1 && some, "the items asked about are some of all, each once");
    return {
        length: among.length || items,
        at: (place) => ({
            mechanism,
            encoding: holding(items, among[place] ?? place),
            epsilon: mechanism.epsilon,
            width: mechanism.width,
        }),
    };
}
