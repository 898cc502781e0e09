import { readCombinator, readEncoding, Reading, readMechanism } from "../core/registry.js";
import { need } from "../errors.js";
import { checkEpsilon, isWithin } from "../maths/exact.js";
import { kindOf, readFields, real } from "../wire/fields.js";
export class Question {
    mechanism;
    encoding;
    epsilon;
    slots = 1;
    hasCoin = false;
    constructor(mechanism, encoding, epsilon = mechanism.epsilon) {
        this.mechanism = mechanism;
        this.encoding = encoding;
        this.epsilon = epsilon;
    }
    get epsilonOnce() {
        return this.mechanism.epsilonOnce ?? +this.epsilon;
    }
    get width() {
        return this.mechanism.width;
    }
    get representatives() {
        return [this];
    }
    at() {
        return this;
    }
    addresses(_coin, slot = 0) {
        return [{ member: 0, slot }];
    }
}
export function readAsk(document, reading = new Reading()) {
    if (kindOf(document) !== "question")
        return readCombinator(document, reading);
    const shape = {
        mechanism: (content) => readMechanism(content, reading),
        epsilon: real,
        encoding: readEncoding,
    };
    const { mechanism, epsilon, encoding } = readFields(document, "question", shape, ["encoding"]);
    checkEpsilon(epsilon);
    const ratio = encoding?.worstRatio?.(mechanism) ?? mechanism.worstRatio;
    need(isWithin(ratio, epsilon), "this question spends more than the `epsilon` it states");
    return new Question(mechanism, encoding, epsilon);
}
