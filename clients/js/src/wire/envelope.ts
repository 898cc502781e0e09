// Envelope v1: the bytes around a packed report, and nothing about the person who sent it.
//
//     version u8 | flags u8 | round u16 | length u32 | member u32 | task digest 16 | report id 16
//     [subject 16] [slot u16] [public: canonical JSON] | payload

import { joined, little, utf8 } from "../bytes.js";

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

export function sealed({ digest, round, member, id, payload, subject, slot, public: stated }: Envelope): Uint8Array {
  const none = new Uint8Array(0);
  const tail = joined(subject ?? none, slot === undefined ? none : little(slot, 2), utf8(stated ?? ""), payload);
  const flags = (subject ? 1 : 0) | (slot === undefined ? 0 : 2) | (stated ? 4 : 0);
  return joined(
    Uint8Array.of(1, flags),
    little(round, 2),
    little(44 + tail.length, 4),
    little(member, 4),
    digest,
    id,
    tail,
  );
}
