// The same question again and again: a device remembers one permanent response per value, for so many values.

import { hex, joined, little, unhex, utf8 } from "../bytes.js";
import { KeyedRandom } from "../core/keyed_rng.js";
import type { Report } from "./message.js";
import { hmac } from "../maths/sha256.js";
import type { Notice } from "../tasks/notice.js";

export interface Remembered {
  /** Names an index to nobody but the holder of the secret. */
  readonly tag: string;
  readonly response: string;
}

/** What a device remembers of one task. */
export interface Memory {
  readonly secret: Uint8Array;
  /** Returns the list of one slot, to be changed in place. */
  slot(number: number): Remembered[];
}

/** Returns how reports are made from memory. */
export function remembering({ digestBytes, distinct }: Notice, { secret, slot: list }: Memory): Report {
  return ({ member, slot, question: { mechanism, encoding } }, index, random) => {
    const context = joined(digestBytes, little(member, 4), little(slot, 2));
    const encoded = Number(encoding ? encoding.encode(index, new KeyedRandom(secret, context)) : index);
    // Computed whether it will be used or not: how long an answer takes tells nothing.
    const response = mechanism.permanent(encoded, new KeyedRandom(secret, joined(context, little(encoded, 4))));
    return mechanism.instantaneous(recall(list(slot), tagOf(secret, slot, encoded), response, distinct ?? 1), random);
  };
}

export function tagOf(secret: Uint8Array, slot: number, index: number): string {
  return hex(hmac(secret, utf8("sottovoce/memo/v1"), little(slot, 2), little(index, 4)));
}

/**
 * Returns the response to send, and moves it to the end of the list.  A value beyond the limit is answered
 * with the latest response, silently: a refusal would give the change away.
 */
function recall(list: Remembered[], tag: string, response: Uint8Array, distinct: number): Uint8Array {
  const known = list.findIndex((one) => one.tag === tag);
  const fresh = { tag, response: hex(response) };
  const used = known >= 0 ? list.splice(known, 1)[0]! : list.length < distinct ? fresh : list.pop()!;
  list.push(used);
  return unhex(used.response);
}
