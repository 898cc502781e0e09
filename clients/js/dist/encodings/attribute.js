import { need } from "../errors.js";
import { fields, whole } from "../wire/fields.js";
export function attribute(content) {
    const { column } = fields(content, "attribute", { column: whole });
    return {
        outputs(domain) {
            const asked = domain.attributes?.[Number(column)];
            need(asked, "this question asks about an attribute that the domain does not have");
            return asked.size;
        },
        encode: (index) => index[Number(column)],
    };
}
