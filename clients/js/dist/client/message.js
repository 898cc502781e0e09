import { joined } from "../bytes.js";
import { choiceCoin, pick } from "../core/coin.js";
import { sealed } from "../wire/envelope.js";
import { need } from "../errors.js";
import { within } from "../maths/exact.js";
export function questions(notice, round, kept) {
    const number = notice.distinct ? 0 : round.number;
    const picked = (choice, slot) => pick(choice, choiceCoin(kept, number, slot));
    const { ask } = round;
    const member = "members" in ask ? picked(ask, 0) : 0;
    const chosen = "members" in ask ? ask.members.at(member) : ask;
    return ("parts" in chosen ? chosen.parts : [chosen]).map((part, slot) => {
        const own = "members" in part ? picked(part, slot) : member;
        const question = ("members" in part ? part.members.at(own) : part);
        checkDomain(notice, question);
        return { member: own, slot, question };
    });
}
export function message(notice, round, asked, index, random, report = once) {
    const slotted = slots(round.ask) > 1;
    const subject = notice.declares.includes("subject") ? random.bytes(16) : undefined;
    return joined(...asked.map((one) => {
        const payload = new Uint8Array(round.ask.width);
        payload.set(report(one, index, random));
        const slot = slotted ? one.slot : undefined;
        return sealed({
            digest: notice.digestBytes,
            round: round.number,
            member: one.member,
            id: random.bytes(16),
            payload,
            subject,
            slot,
            public: index.public,
        });
    }));
}
function checkDomain({ domain, distinct }, { mechanism, encoding, epsilon }) {
    const outputs = encoding ? encoding.outputs(domain) : domain.size;
    need(outputs <= mechanism.size, "this question has no answer for some values of its task's domain");
    need(!distinct || outputs <= 2 ** 32, "responses are remembered for at most 2^32 values");
    need(!distinct || within(mechanism.ratio, epsilon), "this question hides no more than one response");
}
function once({ question: { mechanism, encoding } }, index, random) {
    const encoded = encoding ? encoding.encode(index, random) : index;
    return mechanism.instantaneous(mechanism.permanent(encoded, random), random);
}
function slots(ask) {
    if ("parts" in ask)
        return ask.parts.length;
    return "members" in ask ? ask.different.reduce((most, one) => Math.max(most, slots(one)), 1) : 1;
}
