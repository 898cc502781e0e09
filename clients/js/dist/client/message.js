import { concatenate } from "../bytes.js";
import { choiceCoin } from "../core/coin.js";
import { need } from "../errors.js";
import { isWithin } from "../maths/exact.js";
import { writeEnvelope } from "../wire/envelope.js";
export function questionsFor(notice, { number, ask }, deviceBytes) {
    const round = notice.distinct ? 0 : number;
    const addresses = ask.addresses((slot) => choiceCoin(deviceBytes, round, slot));
    return addresses.map((address) => {
        const question = ask.at(address.member, address.slot);
        checkDomain(notice, question);
        return { address, question };
    });
}
function checkDomain({ domain, distinct }, question) {
    const { mechanism, encoding, epsilon } = question;
    const outputs = encoding ? encoding.outputs(domain) : domain.size;
    need(outputs <= mechanism.size, "the mechanism must serve all values of the task's domain");
    need(mechanism.size <= 2 ** 63 || outputs > 2 ** 63, "the mechanism serves values of more than 63 bits, " +
        "but those of the task's domain are shorter");
    if (!distinct)
        return;
    need(outputs <= 2 ** 32, "a longitudinal task may have at most 2^32 encoded values");
    need(isWithin(mechanism.worstRatio, epsilon), "in a longitudinal task the mechanism alone must keep to the `epsilon` of its question");
}
export function writeMessage(parts, rng) {
    const { notice, round, questions, index, makePayload = freshPayload } = parts;
    const { width, slots } = round.ask;
    const subject = notice.declares.includes("subject") ? rng.bytes(16) : undefined;
    const envelopes = questions.map((asked) => {
        const { member, slot } = asked.address;
        const payload = new Uint8Array(width);
        payload.set(makePayload(asked, index, rng));
        return writeEnvelope({
            digest: notice.shuffle ? notice.fingerprint : notice.digestBytes,
            round: round.number,
            member,
            id: rng.bytes(16),
            payload,
            subject,
            slot: slots > 1 ? slot : undefined,
            public: index.public,
        });
    });
    return concatenate(...envelopes);
}
const freshPayload = ({ question: { mechanism, encoding } }, index, rng) => {
    const encoded = encoding ? encoding.encode(index, rng) : index;
    return mechanism.instantaneous(mechanism.permanent(encoded, rng), rng);
};
