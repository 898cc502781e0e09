// Permanent responses: a device that is asked again about the same value draws its noise once.
//
// The noise comes from a secret that never leaves the device, so all reports of one value together
// reveal what its permanent response reveals.  A task pays for `distinct` different values.  A
// device with more of them repeats its latest response.
// Source: Erlingsson 2014.

import { concatenate, hex, littleEndian, unhex, utf8 } from "../bytes.js";
import { KeyedRng } from "../core/keyed_rng.js";
import type { Rng } from "../core/rng.js";
import { hmac } from "../maths/sha256.js";
import type { Notice } from "../tasks/notice.js";
import type { TaskEntry } from "./ledger_file.js";
import { keepBytes } from "./ledger_file.js";
import type { MakePayload } from "./message.js";

export interface PermanentResponse {
  /** Identifies a value, but only to the holder of the secret. */
  readonly tag: string;
  readonly response: string;
}

/** What a device remembers of one task. */
export interface Memory {
  readonly secret: Uint8Array;
  /** Returns the responses of one slot, the latest last; they are changed in place. */
  responses(slot: number): PermanentResponse[];
}

/** Returns the function that makes payloads from what the entry of a task remembers. */
export function makePayloads(notice: Notice, entry: TaskEntry, rng: Rng): MakePayload {
  const secret = keepBytes(entry, "secret", rng.bytes(32));
  return permanentPayload(notice, { secret, responses: (slot) => (entry.responses[slot] ??= []) });
}

/** Returns the function that makes payloads from remembered responses. */
export function permanentPayload(notice: Notice, memory: Memory): MakePayload {
  const { digestBytes, distinct = 1 } = notice;
  const { secret } = memory;
  return ({ address: { member, slot }, question: { mechanism, encoding } }, index, rng) => {
    const context = concatenate(digestBytes, littleEndian(member, 4), littleEndian(slot, 2));
    const encodingRng = new KeyedRng(secret, context);
    const encoded = Number(encoding ? encoding.encode(index, encodingRng) : index);
    // Computed whether it is used or not, so the time that an answer takes reveals nothing.
    const responseContext = concatenate(context, littleEndian(encoded, 4));
    const response = mechanism.permanent(encoded, new KeyedRng(secret, responseContext));
    const tag = tagOf(secret, slot, encoded);
    const kept = remember(memory.responses(slot), { tag, response: hex(response) }, distinct);
    return mechanism.instantaneous(unhex(kept.response), rng);
  };
}

export function tagOf(secret: Uint8Array, slot: number, index: number): string {
  const address = [littleEndian(slot, 2), littleEndian(index, 4)];
  return hex(hmac(secret, utf8("sottovoce/memo/v1"), ...address));
}

/**
 * Returns the response to send and moves it to the end of the list.  A new value beyond the limit
 * is answered with the latest response; a refusal would reveal that the value has changed.
 */
function remember(
  responses: PermanentResponse[],
  fresh: PermanentResponse,
  limit: number,
): PermanentResponse {
  let response = fresh;
  const known = responses.findIndex(({ tag }) => tag === fresh.tag);
  if (known >= 0) response = responses.splice(known, 1)[0]!;
  else if (responses.length >= limit) response = responses.pop()!;
  responses.push(response);
  return response;
}
