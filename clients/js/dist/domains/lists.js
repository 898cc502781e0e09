import { anyIndex, refuse } from "./base.js";
import { need, ParameterError } from "../errors.js";
import { fields, small } from "../wire/fields.js";
import { readDomain } from "../core/registry.js";
const MOST = 65536;
export function lists(content) {
    const { records, most } = fields(content, "lists", { records: readDomain, most: small });
    need(records.names, "a list is of records");
    need(most >= 1 && most <= MOST, `a list has at most so many records, from 1 to ${MOST}`);
    return {
        get size() {
            throw new ParameterError("a question about lists needs an encoding");
        },
        records,
        most,
        index(value) {
            const held = Array.isArray(value) ? Array.from(value) : refuse("a list of records");
            return held.map((one) => records.index(one));
        },
        anything: (random) => [anyIndex(records, random)],
    };
}
