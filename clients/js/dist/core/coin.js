import { littleEndian, utf8 } from "../bytes.js";
import { sha256 } from "../maths/sha256.js";
export function enrolledBytes(token, digest) {
    return sha256(utf8("sottovoce/enrolment/v1" + token + digest)).slice(0, 16);
}
export function roundCoin(deviceBytes, digest) {
    return coinOf(utf8("sottovoce/coin/v1"), deviceBytes, utf8(digest));
}
export function choiceCoin(deviceBytes, round, slot) {
    const address = [littleEndian(round, 4), littleEndian(slot, 4)];
    return coinOf(utf8("sottovoce/choice/v1"), deviceBytes, ...address);
}
function coinOf(...parts) {
    return new DataView(sha256(...parts).buffer).getBigUint64(0, true);
}
