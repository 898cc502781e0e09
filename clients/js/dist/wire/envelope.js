import { joined, little, utf8 } from "../bytes.js";
export function sealed({ digest, round, member, id, payload, subject, slot, public: stated }) {
    const none = new Uint8Array(0);
    const tail = joined(subject ?? none, slot === undefined ? none : little(slot, 2), utf8(stated ?? ""), payload);
    const flags = (subject ? 1 : 0) | (slot === undefined ? 0 : 2) | (stated ? 4 : 0);
    return joined(Uint8Array.of(1, flags), little(round, 2), little(44 + tail.length, 4), little(member, 4), digest, id, tail);
}
