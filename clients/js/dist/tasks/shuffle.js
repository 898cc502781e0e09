import { batchOf, delta, genericBlanket, massOf } from "../accounting/amplification.js";
import { checkUrl } from "../core/addresses.js";
import { fromBase64url } from "../core/base64url.js";
import { plainText } from "../core/settings.js";
import { need } from "../errors.js";
import { checkEpsilon } from "../maths/exact.js";
import { canonical, parse } from "../wire/codec.js";
import { list, readFields, real, small, text } from "../wire/fields.js";
const MAX_HOPS = 3;
const MAX_USERS = 2 ** 30;
const MAX_URL = 200;
const MAX_OVERLAP = 0.25;
const PROMISES = ["against_users", "central", "delta"];
const HOP = { url: text, key: text };
const SHAPE = {
    hops: list((hop) => readFields(hop, "hop", HOP)),
    key: text,
    users: small,
    fakes: small,
    central: real,
    against_users: real,
    delta: real,
};
export function readShuffle(document) {
    const fields = readFields(document, "shuffle", SHAPE);
    const { hops, key, users, fakes } = fields;
    need(hops.length >= 1 && hops.length <= MAX_HOPS, `\`hops\` must have from 1 to ${MAX_HOPS} entries`);
    for (const hop of hops) {
        plainText("url", hop.url, MAX_URL);
        checkUrl("url", hop.url);
        fromBase64url("key", hop.key, 32);
    }
    const keys = new Set(hops.map((hop) => hop.key));
    need(keys.size === hops.length, "`hops` must differ in their keys");
    fromBase64url("key", key, 32);
    need(isWhole(users, 2), `\`users\` must be a whole number from 2 to ${MAX_USERS}`);
    need(isWhole(fakes, 0), `\`fakes\` must be a whole number from 0 to ${MAX_USERS}`);
    checkEpsilon(fields.central);
    checkEpsilon(fields.against_users);
    need(+fields.delta > 0 && +fields.delta < 1, "`delta` must be a number above 0 and below 1");
    return new Shuffle(fields);
}
function isWhole(number, low) {
    return Number.isInteger(number) && number >= low && number <= MAX_USERS;
}
export class Shuffle {
    hops;
    key;
    users;
    fakes;
    central;
    againstUsers;
    delta;
    constructor(fields) {
        this.hops = fields.hops;
        this.key = fields.key;
        this.users = fields.users;
        this.fakes = fields.fakes;
        this.central = fields.central;
        this.againstUsers = fields.against_users;
        this.delta = fields.delta;
    }
    get signingKeys() {
        const keys = [...this.hops.map((hop) => hop.key), this.key];
        return keys.map((key) => fromBase64url("key", key, 32));
    }
    check({ distinct, declares, collection }, ask) {
        need(distinct === undefined, "`distinct` must be left out of a shuffled task: permanent responses link the messages " +
            "of one person");
        need(!declares.includes("public"), "`declares` must not hold 'public' in a shuffled task: a person hides only among those " +
            "with equal public columns");
        need(!collection?.enrolment, "`enrolment` must be false in a shuffled task: a token would tell whose message it is. " +
            "Use blind tokens (`issuer`)");
        const own = blanketOf(ask);
        const blanket = own.overlap > MAX_OVERLAP ? genericBlanket(own.epsilonLocal) : own;
        this.#checkPromise("central", +this.central, blanket, this.users);
        this.#checkPromise("against_users", +this.againstUsers, blanket, 1);
    }
    conditional(epsilon) {
        if (+this.central >= +epsilon)
            return undefined;
        return { epsilon: this.central, delta: this.delta };
    }
    meaning({ collection }) {
        return canonical({
            against_users: this.againstUsers,
            central: this.central,
            delta: this.delta,
            hops: this.hops.map(({ url, key }) => [url, key]),
            tokens: collection?.issuer !== undefined,
        });
    }
    isWorseThan(before, notice) {
        const old = parse(before);
        const now = parse(this.meaning(notice));
        return (canonical(old.hops) !== canonical(now.hops) ||
            (old.tokens === true && !now.tokens) ||
            PROMISES.some((promise) => Number(now[promise]) > Number(old[promise])));
    }
    #checkPromise(name, promised, blanket, users) {
        if (promised >= blanket.epsilonLocal)
            return;
        need(delta(blanket, batchOf(blanket, users, this.fakes), promised) <= +this.delta, `\`${name}\` of the shuffle promises epsilon ${promised}, which its users and fakes ` +
            `do not give at delta ${+this.delta}: state more, or raise \`users\` or \`fakes\``);
    }
}
export function blanketOf(ask) {
    if ("mechanism" in ask)
        return questionBlanket(ask);
    if ("members" in ask)
        return choiceBlanket(ask);
    return genericBlanket(+ask.epsilon);
}
function questionBlanket({ mechanism, epsilon }) {
    const { share, overlap = 0 } = mechanism;
    if (+mechanism.epsilon > +epsilon)
        return genericBlanket(+epsilon);
    if (share === undefined)
        return genericBlanket(+mechanism.epsilon);
    return { epsilonLocal: +mechanism.epsilon, share, overlap, drawable: true };
}
function choiceBlanket({ members, weights }) {
    const examples = "representatives" in members ? members.representatives : members;
    const [first, ...others] = examples.map((ask) => ("mechanism" in ask ? ask.mechanism : ask));
    if (others.every((other) => other === first))
        return blanketOf(members.at(0));
    const parts = Array.from({ length: members.length }, (_, member) => {
        return { weight: weights[member] ?? 1, blanket: blanketOf(members.at(member)) };
    });
    return mixture(parts);
}
function mixture(parts) {
    const epsilonLocal = parts.reduce((most, { blanket }) => Math.max(most, blanket.epsilonLocal), 0);
    let mass = 0;
    let supporting = 0;
    let both = 0;
    for (const { weight, blanket } of parts) {
        const raised = weight * massOf({ ...blanket, epsilonLocal });
        mass += raised;
        supporting += raised * blanket.share;
        both += raised * blanket.share * blanket.overlap;
    }
    const drawable = parts.every(({ blanket }) => blanket.drawable);
    return { epsilonLocal, share: supporting / mass, overlap: both / supporting, drawable };
}
