import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
import { canonical } from "../wire/codec.js";
import { object, readFields, small, whole } from "../wire/fields.js";
import { readAsk } from "./question.js";
const SHAPE = { number: small, ask: object, low: whole, high: whole };
export function readRound(document) {
    const { number, ask, low, high } = readFields(document, "round", SHAPE);
    need(number >= 0 && number < 65536, "`number` of a round must be from 0 to 65535");
    need(0 <= low && low < high && high <= UNIT, "`low` and `high` of a round must satisfy 0 <= low < high <= 2^64");
    const [first, last] = [BigInt(low), BigInt(high)];
    return { number, ask: readAsk(ask), low: first, high: last, askText: canonical(ask) };
}
export function asksCoin({ low, high }, coin) {
    return low <= coin && coin < high;
}
