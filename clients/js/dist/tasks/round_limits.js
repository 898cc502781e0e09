import { MAX_MESSAGE_BYTES, MAX_ROUNDS } from "../core/bounds.js";
import { MismatchError, need } from "../errors.js";
import { list, readFields, small, text } from "../wire/fields.js";
const SHAPE = { count: small, width: small, mechanisms: list(text), encodings: list(text) };
export function readRoundLimits(document) {
    const limits = readFields(document, "roundlimits", SHAPE);
    const { count, width, mechanisms, encodings } = limits;
    need(count >= 2 && count <= MAX_ROUNDS, `\`count\` must be a whole number from 2 to ${MAX_ROUNDS}`);
    need(width >= 1 && width <= MAX_MESSAGE_BYTES, `\`width\` must be a whole number from 1 to ${MAX_MESSAGE_BYTES}`);
    need(mechanisms.length, "`mechanisms` must have at least 1 entry");
    for (const [name, kinds] of Object.entries({ mechanisms, encodings })) {
        need(!kinds.includes(""), `each entry of \`${name}\` must be text that is not empty`);
        const isSorted = kinds.every((kind, i) => !i || kind > kinds[i - 1]);
        need(isSorted, `\`${name}\` must be sorted and differ`);
    }
    return limits;
}
export function checkLaterRound(limits, { number, ask }) {
    const { count, width, mechanisms, encodings } = limits;
    if (number >= count)
        throw new MismatchError(`the task states ${count} rounds, and there is no round ${number} in it`);
    if (ask.width > width)
        throw new MismatchError(`the task states reports of at most ${width} bytes in later rounds, ` +
            `and this round asks for ${ask.width}`);
    for (const { mechanism, encoding } of ask.representatives) {
        if (!mechanisms.includes(mechanism.kind))
            throw new MismatchError("this round randomises by a mechanism that the task lacks");
        if (encoding && !encodings.includes(encoding.kind))
            throw new MismatchError("this round uses an encoding that the task lacks");
    }
}
