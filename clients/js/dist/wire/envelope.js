import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { need } from "../errors.js";
const HEADER_BYTES = 28;
const NOTHING = new Uint8Array(0);
export function digestBytesOf(version) {
    return 16 * version;
}
export function writeEnvelope(envelope) {
    const { version = 1, digest, round, member, id, payload } = envelope;
    const { subject, slot, public: publicText } = envelope;
    need(digest.length === digestBytesOf(version), `\`digest\` must have ${digestBytesOf(version)} bytes in an envelope of version ${version}`);
    const hasSlot = slot !== undefined;
    const flags = (subject ? 1 : 0) | (hasSlot ? 2 : 0) | (publicText ? 4 : 0);
    const slotBytes = hasSlot ? littleEndian(slot, 2) : NOTHING;
    const tail = concatenate(subject ?? NOTHING, slotBytes, utf8(publicText ?? ""), payload);
    return concatenate(Uint8Array.of(version, flags), littleEndian(round, 2), littleEndian(HEADER_BYTES + digest.length + tail.length, 4), littleEndian(member, 4), digest, id, tail);
}
