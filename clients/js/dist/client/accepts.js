import { MismatchError, need } from "../errors.js";
import { canonical, digest, isDocument } from "../wire/codec.js";
const FIELDS = ["domain", "epsilon", "public", "plans", "digest", "central"];
export function checkAccepts(accepts) {
    const { domain, epsilon, public: columns = [], plans = [], digest: pinned, central } = accepts;
    need(Object.keys(accepts).every((field) => FIELDS.includes(field)), `the fields of \`accepts\` must be ${FIELDS.join(", ")}`);
    need(domain === undefined || isWritten(domain), "`domain` must be the document of a domain");
    for (const [name, limit] of Object.entries({ epsilon, central }))
        need(limit === undefined || (limit > 0 && limit <= 20), `\`${name}\` must be a number above 0 and at most 20`);
    need(isListOfText(columns), "`public` must be a list of names of columns");
    need(isListOfText(plans), "`plans` must be a list of kinds of plans");
    need(pinned === undefined || typeof pinned === "string", "`digest` must be text");
    return accepts;
}
export function refuseUnaccepted(notice, accepts) {
    const { domain, epsilon, public: columns = [], plans, digest: pinned, central } = accepts;
    const refuseIf = (condition, reason) => {
        if (condition)
            throw new MismatchError(`the task '${notice.name}' ${reason}`);
    };
    refuseIf(pinned !== undefined && pinned !== notice.digest, "has another digest than the application accepts");
    refuseIf(plans && !plans.includes(notice.plan), "asks by another plan than the application accepts");
    refuseIf(domain && canonical(domain) !== canonical(notice.domainDocument), "asks for another domain than the application accepts");
    refuseIf(epsilon !== undefined && +notice.epsilon > epsilon, `costs epsilon ${+notice.epsilon}, and the application accepts at most ${epsilon}`);
    if (central !== undefined) {
        refuseIf(!notice.shuffle, "is not shuffled, and the application accepts only that");
        const promised = +notice.shuffle.central;
        refuseIf(promised > central, `reveals epsilon ${promised} to the collector, ` +
            `and the application accepts at most ${central}`);
    }
    for (const column of notice.domain.publicNames ?? [])
        refuseIf(!columns.includes(column), `sends the column '${column}' in clear, and the application does not accept that`);
}
export function refuseChanged(file, { origin, notice, accepts }) {
    const known = file.meanings.find((meaning) => isOf(meaning, origin, notice));
    if (!known || accepts.digest !== undefined)
        return;
    const stated = ["domain", "epsilon"].filter((field) => accepts[field] !== undefined);
    const meaning = meaningOf(notice);
    const fields = Object.keys(meaning);
    const changed = fields.find((field) => !stated.some((own) => own === field) &&
        meaning[field] !== known[field] &&
        (field !== "shuffle" || isWorse(known.shuffle, notice)));
    if (changed)
        throw new MismatchError(`the task '${notice.name}' asks for something else than when this device first answered ` +
            `it: \`${changed}\` has changed; call agree() if the app or the owner agrees`);
}
function isWorse(before, notice) {
    return Boolean(before) && (notice.shuffle?.isWorseThan(before, notice) ?? true);
}
export function remember(file, origin, notice) {
    const others = file.meanings.filter((meaning) => !isOf(meaning, origin, notice));
    file.meanings = [...others, { origin, name: notice.name, ...meaningOf(notice) }];
}
function meaningOf(notice) {
    const { declares, distinct, domainDocument, epsilon, shuffle } = notice;
    return {
        declares: declares.join(),
        distinct: String(distinct ?? ""),
        domain: digest(domainDocument),
        epsilon,
        shuffle: shuffle?.meaning(notice) ?? "",
    };
}
function isOf(meaning, origin, { name }) {
    return meaning.origin === origin && meaning.name === name;
}
function isWritten(domain) {
    try {
        return isDocument(domain) && canonical(domain) !== "";
    }
    catch {
        return false;
    }
}
function isListOfText(values) {
    return Array.isArray(values) && values.every((value) => typeof value === "string");
}
