import { MAX_LISTED_MEMBERS } from "../core/bounds.js";
import { readFamily } from "../core/registry.js";
import { need } from "../errors.js";
import { stated } from "../maths/exact.js";
import { lengthOf, list, readFields, small } from "../wire/fields.js";
import { readAsk } from "./question.js";
const MAX_WEIGHT = 2 ** 32;
export class Choice {
    members;
    weights;
    epsilon;
    epsilonOnce;
    width;
    slots;
    hasCoin = true;
    representatives;
    constructor(members, weights) {
        this.members = members;
        this.weights = weights;
        const asks = "representatives" in members ? members.representatives : members;
        const dearest = (left, right) => stated(right.epsilon) > stated(left.epsilon) ? right : left;
        const largest = (number) => asks.reduce((largest, ask) => Math.max(largest, number(ask)), 0);
        this.epsilon = asks.reduce(dearest).epsilon;
        this.epsilonOnce = largest((ask) => ask.epsilonOnce);
        this.width = largest((ask) => ask.width);
        this.slots = largest((ask) => ask.slots);
        this.representatives = asks.flatMap((ask) => ask.representatives);
    }
    at(member, slot) {
        return this.members.at(member).at(0, slot);
    }
    addresses(coin, slot = 0) {
        const member = pick(this.members.length, this.weights, coin(slot));
        const addresses = this.members.at(member).addresses(coin, slot);
        return addresses.map((address) => ({ ...address, member }));
    }
}
export function pick(members, weights, coin) {
    let position = Number((coin * BigInt(weights.length ? sum(weights) : members)) >> 64n);
    return weights.length ? weights.findIndex((weight) => (position -= weight) < 0) : position;
}
export function read(document, reading) {
    const count = lengthOf(document, "members");
    need(count > 0 && count <= MAX_LISTED_MEMBERS, `\`members\` must have from 1 to ${MAX_LISTED_MEMBERS} entries`);
    const readMembers = (members) => Array.isArray(members)
        ? members.map((member) => readAsk(member, reading))
        : readFamily(members, reading);
    const shape = { members: readMembers, weights: list(small) };
    const { members, weights } = reading.within("choice", () => readFields(document, "choice", shape));
    need(!weights.length || weights.length === members.length, "`weights` of a choice must have one entry per member");
    need(weights.every((weight) => weight >= 1), "`weights` of a choice must be positive whole numbers");
    need((sum(weights) || members.length) < MAX_WEIGHT, "`weights` of a choice must sum to less than 2^32");
    return new Choice(members, weights);
}
function sum(weights) {
    return weights.reduce((total, weight) => total + weight, 0);
}
