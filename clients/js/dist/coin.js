import { little, utf8 } from "./bytes.js";
import { sha256 } from "./sha256.js";
export function enrolled(token, digest) {
    return sha256(utf8("sottovoce/enrolment/v1" + token + digest)).slice(0, 16);
}
export function place(kept, digest) {
    return drawn(utf8("sottovoce/coin/v1"), kept, utf8(digest));
}
export function choiceCoin(kept, round, slot) {
    return drawn(utf8("sottovoce/choice/v1"), kept, little(round, 4), little(slot, 4));
}
export function asks(round, coin) {
    return round.low <= coin && coin < round.high;
}
export function pick({ members, weights }, coin) {
    const each = weights.length ? weights : members.map(() => 1);
    let position = Number((coin * BigInt(each.reduce((total, weight) => total + weight, 0))) >> 64n);
    return each.findIndex((weight) => (position -= weight) < 0);
}
function drawn(...parts) {
    return new DataView(sha256(...parts).buffer).getBigUint64(0, true);
}
