import { need } from "../errors.js";
import { readFields, whole } from "../wire/fields.js";
export function read(document) {
    const { column } = readFields(document, "attribute", { column: whole });
    return {
        kind: "attribute",
        outputs(domain) {
            const attribute = domain.attributes?.[Number(column)];
            need(attribute, "`column` must be an attribute of the task's domain");
            return attribute.size;
        },
        encode: (index) => index[Number(column)],
    };
}
