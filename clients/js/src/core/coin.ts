// Public coins: which round asks a device, and which member of a choice it answers.
// A device draws 16 bytes once per task and keeps them, or derives them from its enrolment token.

import { littleEndian, utf8 } from "../bytes.js";
import { sha256 } from "../maths/sha256.js";

/** Returns the 16 bytes that an enrolment token gives a device for one task. */
export function enrolledBytes(token: string, digest: string): Uint8Array {
  return sha256(utf8("sottovoce/enrolment/v1" + token + digest)).slice(0, 16);
}

/** Returns the coin in [0, 2^64) that decides which round asks the device. */
export function roundCoin(deviceBytes: Uint8Array, digest: string): bigint {
  return coinOf(utf8("sottovoce/coin/v1"), deviceBytes, utf8(digest));
}

/** Returns the coin in [0, 2^64) that picks a member of a choice. */
export function choiceCoin(deviceBytes: Uint8Array, round: number, slot: number): bigint {
  const address = [littleEndian(round, 4), littleEndian(slot, 4)];
  return coinOf(utf8("sottovoce/choice/v1"), deviceBytes, ...address);
}

function coinOf(...parts: Uint8Array[]): bigint {
  return new DataView(sha256(...parts).buffer).getBigUint64(0, true);
}
