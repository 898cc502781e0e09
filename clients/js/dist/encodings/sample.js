import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { fields, small } from "../wire/fields.js";
import { checked, held, number, SHAPE } from "./size.js";
const LONGEST = 65536;
export function sample(content) {
    const asked = checked(fields(content, "sample", { ...SHAPE, length: small }));
    const { items, among, length } = asked;
    need(length >= 1 && length <= LONGEST, `sets are padded to a length from 1 to ${LONGEST}`);
    return {
        outputs: (domain) => narrow(BigInt(number(asked, domain)) + BigInt(length)),
        encode(index, random) {
            const has = held(asked, index);
            const drawn = random.integer(Math.max(has.length, length));
            const dummy = random.integer(length);
            return has[drawn] ?? narrow(BigInt(among.length || items) + BigInt(dummy));
        },
        ratio({ kind, ratio: [top, bottom] }) {
            const spread = bottom * BigInt(length);
            return kind === "grr" ? [spread + top - bottom, spread] : [top, bottom];
        },
    };
}
