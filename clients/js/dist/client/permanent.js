import { concatenate, hex, littleEndian, unhex, utf8 } from "../bytes.js";
import { KeyedRng } from "../core/keyed_rng.js";
import { hmac } from "../maths/sha256.js";
export function permanentPayload(notice, memory) {
    const { digestBytes, distinct = 1 } = notice;
    const { secret } = memory;
    return ({ address: { member, slot }, question: { mechanism, encoding } }, index, rng) => {
        const context = concatenate(digestBytes, littleEndian(member, 4), littleEndian(slot, 2));
        const encodingRng = new KeyedRng(secret, context);
        const encoded = Number(encoding ? encoding.encode(index, encodingRng) : index);
        const responseContext = concatenate(context, littleEndian(encoded, 4));
        const response = mechanism.permanent(encoded, new KeyedRng(secret, responseContext));
        const tag = tagOf(secret, slot, encoded);
        const kept = remember(memory.responses(slot), { tag, response: hex(response) }, distinct);
        return mechanism.instantaneous(unhex(kept.response), rng);
    };
}
export function tagOf(secret, slot, index) {
    const address = [littleEndian(slot, 2), littleEndian(index, 4)];
    return hex(hmac(secret, utf8("sottovoce/memo/v1"), ...address));
}
function remember(responses, fresh, limit) {
    let response = fresh;
    const known = responses.findIndex(({ tag }) => tag === fresh.tag);
    if (known >= 0)
        response = responses.splice(known, 1)[0];
    else if (responses.length >= limit)
        response = responses.pop();
    responses.push(response);
    return response;
}
