// Public coins: which round a device belongs to and which member it answers, fixed before anybody asks.

import { little, utf8 } from "../bytes.js";
import { sha256 } from "../maths/sha256.js";
import type { Choice, Round } from "../tasks/notice.js";

type Weighed = Pick<Choice, "members" | "weights">;

/** Returns the 16 bytes that an enrolment token gives a device for one task. */
export function enrolled(token: string, digest: string): Uint8Array {
  return sha256(utf8("sottovoce/enrolment/v1" + token + digest)).slice(0, 16);
}

/** Returns where the device stands in [0, 2^64): the round whose share this is asks it. */
export function place(kept: Uint8Array, digest: string): bigint {
  return drawn(utf8("sottovoce/coin/v1"), kept, utf8(digest));
}

/** Returns the 64-bit coin that picks a member of a choice. */
export function choiceCoin(kept: Uint8Array, round: number, slot: number): bigint {
  return drawn(utf8("sottovoce/choice/v1"), kept, little(round, 4), little(slot, 4));
}

export function asks(round: Pick<Round, "low" | "high">, coin: bigint): boolean {
  return round.low <= coin && coin < round.high;
}

/** Returns the member in whose part of the weights the coin falls. */
export function pick(choice: Weighed, coin: bigint): number {
  let position = Number((coin * BigInt(total(choice))) >> 64n);
  return choice.weights.length ? choice.weights.findIndex((weight) => (position -= weight) < 0) : position;
}

/** Returns the sum of the weights; without any, all members weigh one. */
export function total({ members, weights }: Weighed): number {
  return weights.length ? weights.reduce((sum, weight) => sum + weight, 0) : members.length;
}

function drawn(...parts: Uint8Array[]): bigint {
  return new DataView(sha256(...parts).buffer).getBigUint64(0, true);
}
