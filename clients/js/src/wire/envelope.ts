// Envelopes: the bytes around a packed report.  They say nothing about who sent it.  Version 1 is
//
//     version u8 | flags u8 | round u16 | length u32 | member u32 | task digest 16 | report id 16
//     [subject 16] [slot u16] [public: canonical JSON] | payload
//
// and version 2 the same with a task digest of 32 bytes: the whole fingerprint of the task.

import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { need } from "../errors.js";

export type EnvelopeVersion = 1 | 2;

const HEADER_BYTES = 28; // beside the digest
const NOTHING = new Uint8Array(0);

export interface Envelope {
  /** The version of the envelope (default: 1). */
  readonly version?: EnvelopeVersion | undefined;
  readonly digest: Uint8Array;
  readonly round: number;
  readonly member: number;
  readonly id: Uint8Array;
  readonly payload: Uint8Array;
  readonly subject?: Uint8Array | undefined;
  readonly slot?: number | undefined;
  readonly public?: string | undefined;
}

/** Returns how many bytes of a task's fingerprint an envelope carries. */
export function digestBytesOf(version: EnvelopeVersion): number {
  return 16 * version;
}

export function writeEnvelope(envelope: Envelope): Uint8Array {
  const { version = 1, digest, round, member, id, payload } = envelope;
  const { subject, slot, public: publicText } = envelope;
  need(
    digest.length === digestBytesOf(version),
    `\`digest\` must have ${digestBytesOf(version)} bytes in an envelope of version ${version}`,
  );
  const hasSlot = slot !== undefined;
  const flags = (subject ? 1 : 0) | (hasSlot ? 2 : 0) | (publicText ? 4 : 0);
  const slotBytes = hasSlot ? littleEndian(slot, 2) : NOTHING;
  const tail = concatenate(subject ?? NOTHING, slotBytes, utf8(publicText ?? ""), payload);
  return concatenate(
    Uint8Array.of(version, flags),
    littleEndian(round, 2),
    littleEndian(HEADER_BYTES + digest.length + tail.length, 4),
    littleEndian(member, 4),
    digest,
    id,
    tail,
  );
}
