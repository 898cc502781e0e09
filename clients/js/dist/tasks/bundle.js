import { MAX_SLOTS } from "../core/bounds.js";
import { need } from "../errors.js";
import { nearest, stated } from "../maths/exact.js";
import { lengthOf, list, readFields } from "../wire/fields.js";
import { readAsk } from "./question.js";
export class Bundle {
    parts;
    epsilon;
    epsilonOnce;
    width;
    slots;
    hasCoin;
    representatives;
    constructor(parts) {
        this.parts = parts;
        this.epsilon = nearest(parts.reduce((total, part) => total + stated(part.epsilon), 0n));
        this.epsilonOnce = parts.reduce((total, part) => total + part.epsilonOnce, 0);
        this.width = parts.reduce((widest, part) => Math.max(widest, part.width), 0);
        this.slots = parts.length;
        this.hasCoin = parts.some((part) => part.hasCoin);
        this.representatives = parts.flatMap((part) => part.representatives);
    }
    at(member, slot) {
        return this.parts[slot].at(member, 0);
    }
    addresses(coin) {
        return this.parts.flatMap((part, slot) => part.addresses(coin, slot));
    }
}
export function read(document, reading) {
    const count = lengthOf(document, "parts");
    need(count > 0 && count <= MAX_SLOTS, `\`parts\` must have from 1 to ${MAX_SLOTS} entries`);
    const shape = { parts: list((part) => readAsk(part, reading)) };
    return reading.within("bundle", () => new Bundle(readFields(document, "bundle", shape).parts));
}
