import { MAX_COLUMN_NAME } from "../core/bounds.js";
import { readDomain } from "../core/registry.js";
import { plainTexts } from "../core/settings.js";
import { need, ParameterError } from "../errors.js";
import { isDocument } from "../wire/codec.js";
import { list, readFields, text } from "../wire/fields.js";
import { refuse } from "./base.js";
export function read(document) {
    const shape = { names: list(text), attributes: list(readDomain) };
    const { names, attributes } = readFields(document, "records", shape);
    const known = new Set(names);
    need(names.length, "`names` of records must not be empty");
    need(known.size === names.length, "`names` of records must all be different");
    need(!known.has(""), "`names` of records must not be empty text");
    plainTexts("names", names, MAX_COLUMN_NAME);
    need(attributes.every(hasFlatIndex), "`attributes` must have values of at most 63 bits, and no parts of their own");
    need(names.length === attributes.length, "`attributes` must have one entry per name");
    return {
        facts: { kind: "records", count: names.length },
        get size() {
            throw new ParameterError("a question about records needs an `encoding`");
        },
        attributes,
        names,
        index: (value) => entriesOf(value, names, "attributes").map((entry, i) => attributes[i].index(entry)),
    };
}
function hasFlatIndex(domain) {
    const { attributes, records, tables, items } = domain;
    return !attributes && !records && !tables && !items && domain.size <= 2 ** 63;
}
export function entriesOf(value, names, what) {
    const record = isDocument(value) ? value : {};
    const isComplete = names.every((name) => Object.hasOwn(record, name));
    if (!isComplete || Object.keys(record).length !== names.length)
        refuse(`an object of exactly the ${what} ${names.join(", ")}`);
    return names.map((name) => record[name]);
}
