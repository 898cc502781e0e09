import { little, utf8 } from "../bytes.js";
import { sha256 } from "../maths/sha256.js";
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
export function pick(choice, coin) {
    let position = Number((coin * BigInt(total(choice))) >> 64n);
    return choice.weights.length ? choice.weights.findIndex((weight) => (position -= weight) < 0) : position;
}
export function total({ members, weights }) {
    return weights.length ? weights.reduce((sum, weight) => sum + weight, 0) : members.length;
}
function drawn(...parts) {
    return new DataView(sha256(...parts).buffer).getBigUint64(0, true);
}
