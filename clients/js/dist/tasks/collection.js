import { need } from "../errors.js";
import { flag, readFields, small, text } from "../wire/fields.js";
const SMALLEST_CROWD = 2;
const NUMBERS = {
    quota: small,
    seconds: small,
    grace: small,
    minimum: small,
    crowd: small,
    retention: small,
};
export function readCollection(document) {
    const shape = { ...NUMBERS, enrolment: flag, sandbox: flag, issuer: text };
    const collection = readFields(document, "collection", shape, ["issuer"]);
    for (const name of Object.keys(NUMBERS)) {
        const number = collection[name];
        need(number >= 0 && number < 2 ** 32, `\`${name}\` must be from 0 to 2^32 - 1`);
    }
    const { quota, minimum, crowd, retention, issuer, enrolment } = collection;
    need(issuer === undefined || /^[\w-]{456}$/.test(issuer), "`issuer` must be base64url of exactly 342 bytes, without padding");
    need(!issuer || !enrolment, "`enrolment` must be false where `issuer` is set");
    need(minimum >= SMALLEST_CROWD, "`minimum` must be at least 2 users");
    need(!crowd || crowd >= SMALLEST_CROWD, "`crowd` must be 0 or at least 2 users");
    need(!quota || quota >= minimum, "`quota` must be 0 or at least `minimum`");
    need(retention >= 1, "`retention` must be at least 1 day");
    return collection;
}
