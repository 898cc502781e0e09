import { need } from "../errors.js";
import { fields, flag, small } from "../wire/fields.js";
const NUMBERS = { quota: small, seconds: small, grace: small, minimum: small, crowd: small, retention: small };
export function readCollection(content) {
    const read = fields(content, "collection", { ...NUMBERS, enrolment: flag, sandbox: flag });
    const { quota, minimum, crowd, retention } = read;
    const numbers = Object.keys(NUMBERS).map((name) => read[name]);
    need(numbers.every((number) => number >= 0 && number < 2 ** 32), "the settings of a collection are below 2^32");
    need(minimum >= 2 && crowd !== 1, "a minimum or a crowd is at least 2 users");
    need(!quota || quota >= minimum, "a quota below the minimum would close rounds that may not be released");
    need(retention >= 1, "reports are kept for at least 1 day");
    return read;
}
