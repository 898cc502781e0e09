import { MAX_ROUNDS } from "../core/bounds.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { object, readFields, small, whole } from "../wire/fields.js";
import { readAsk } from "./question.js";
const SHAPE = { number: small, ask: readAsk, low: whole, high: whole };
export function readRound(content) {
    const document = object(content);
    const { number, ask, low, high } = readFields(document, "round", SHAPE);
    need(number >= 0 && number < MAX_ROUNDS, "`number` of a round must be from 0 to 65535");
    need(0 <= low && low < high && high <= UNIT, "`low` and `high` of a round must satisfy 0 <= low < high <= 2^64");
    return { number, ask, low: BigInt(low), high: BigInt(high), document };
}
export function asksCoin({ low, high }, coin) {
    return low <= coin && coin < high;
}
