import { hex, joined, little, unhex, utf8 } from "../bytes.js";
import { KeyedRandom } from "../core/keyed_rng.js";
import { hmac } from "../maths/sha256.js";
export function remembering({ digestBytes, distinct }, { secret, slot: list }) {
    return ({ member, slot, question: { mechanism, encoding } }, index, random) => {
        const context = joined(digestBytes, little(member, 4), little(slot, 2));
        const encoded = Number(encoding ? encoding.encode(index, new KeyedRandom(secret, context)) : index);
        const response = mechanism.permanent(encoded, new KeyedRandom(secret, joined(context, little(encoded, 4))));
        return mechanism.instantaneous(recall(list(slot), tagOf(secret, slot, encoded), response, distinct ?? 1), random);
    };
}
export function tagOf(secret, slot, index) {
    return hex(hmac(secret, utf8("sottovoce/memo/v1"), little(slot, 2), little(index, 4)));
}
function recall(list, tag, response, distinct) {
    const known = list.findIndex((one) => one.tag === tag);
    const fresh = { tag, response: hex(response) };
    const used = known >= 0 ? list.splice(known, 1)[0] : list.length < distinct ? fresh : list.pop();
    list.push(used);
    return unhex(used.response);
}
