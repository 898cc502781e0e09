import { concatenate, littleEndian, utf8 } from "../bytes.js";
const OTHER_BYTES = 28;
const NOTHING = new Uint8Array(0);
export function writeEnvelope(envelope) {
    const { digest, round, member, id, payload, subject, slot, public: publicText } = envelope;
    const hasSlot = slot !== undefined;
    const flags = (subject ? 1 : 0) | (hasSlot ? 2 : 0) | (publicText ? 4 : 0);
    const slotBytes = hasSlot ? littleEndian(slot, 2) : NOTHING;
    const tail = concatenate(subject ?? NOTHING, slotBytes, utf8(publicText ?? ""), payload);
    return concatenate(Uint8Array.of(digest.length / 16, flags), littleEndian(round, 2), littleEndian(OTHER_BYTES + digest.length + tail.length, 4), littleEndian(member, 4), digest, id, tail);
}
