// Envelopes: the bytes around a packed report, which say nothing about who sent it.
// Version 1 has a digest of 16 bytes; version 2, which shuffled tasks use, one of 32.
//
//     version u8 | flags u8 | round u16 | length u32 | member u32 | task digest | report id 16
//     [subject 16] [slot u16] [public: canonical JSON] | payload

import { concatenate, littleEndian, utf8 } from "../bytes.js";

const OTHER_BYTES = 28; // of the header beside the digest
const NOTHING = new Uint8Array(0);

export interface Envelope {
  readonly digest: Uint8Array;
  readonly round: number;
  readonly member: number;
  readonly id: Uint8Array;
  readonly payload: Uint8Array;
  readonly subject?: Uint8Array | undefined;
  readonly slot?: number | undefined;
  readonly public?: string | undefined;
}

export function writeEnvelope(envelope: Envelope): Uint8Array {
  const { digest, round, member, id, payload, subject, slot, public: publicText } = envelope;
  const hasSlot = slot !== undefined;
  const flags = (subject ? 1 : 0) | (hasSlot ? 2 : 0) | (publicText ? 4 : 0);
  const slotBytes = hasSlot ? littleEndian(slot, 2) : NOTHING;
  const tail = concatenate(subject ?? NOTHING, slotBytes, utf8(publicText ?? ""), payload);
  return concatenate(
    Uint8Array.of(digest.length / 16, flags),
    littleEndian(round, 2),
    littleEndian(OTHER_BYTES + digest.length + tail.length, 4),
    littleEndian(member, 4),
    digest,
    id,
    tail,
  );
}
