// Key sets: all keys of one round, which every hop signs as one.  As long as one hop is honest,
// all devices get the same keys and the same round; wire/key_set.py explains why that matters.
//
//     "sottovoce/key-set/v1" | task digest 32 | round u16, little-endian
//     | SHA-256 of the round's canonical document 32 | hop u8 | public keys, 32 each
//
// Source: RFC 8032.

import { concatenate, hex, littleEndian, utf8 } from "../bytes.js";
import { need } from "../errors.js";
import { verifySignature } from "./round_keys.js";
import { MAX_HOPS, needBytes, needWhole } from "./seal.js";

/** The public keys of one round of one task: those of all hops, then the collector's. */
export interface KeySet {
  readonly digest: Uint8Array;
  readonly round: number;
  readonly roundHash: Uint8Array;
  readonly publicKeys: readonly Uint8Array[];
}

/** Returns the bytes that a hop signs. */
export function keySetBytes(keySet: KeySet, hop: number): Uint8Array {
  const { digest, round, roundHash, publicKeys } = keySet;
  needBytes("digest", digest, 32);
  needWhole("round", round, 0, 0xffff);
  needBytes("roundHash", roundHash, 32);
  needWhole("publicKeys", publicKeys.length, 2, MAX_HOPS + 1);
  for (const [index, key] of publicKeys.entries()) needBytes(`publicKeys[${index}]`, key, 32);
  const distinct = new Set(publicKeys.map(hex));
  need(distinct.size === publicKeys.length, "the entries of `publicKeys` must differ");
  needWhole("hop", hop, 0, publicKeys.length - 2);
  const place = [digest, littleEndian(round, 2), roundHash, Uint8Array.of(hop)];
  return concatenate(utf8("sottovoce/key-set/v1"), ...place, ...publicKeys);
}

/** Refuses the set unless the hop with this long-term public key has signed it. */
export function verifyKeySet(
  keySet: KeySet,
  hop: number,
  signature: Uint8Array,
  verifyingKey: Uint8Array,
): Promise<void> {
  const refusal = "a hop has not signed exactly these keys for this round of the task";
  return verifySignature(keySetBytes(keySet, hop), signature, verifyingKey, refusal);
}

/** Refuses the set unless every hop has signed it; both lists are in the order of the hops. */
export async function verifyAll(
  keySet: KeySet,
  signatures: readonly Uint8Array[],
  verifyingKeys: readonly Uint8Array[],
): Promise<void> {
  const hops = keySet.publicKeys.length - 1;
  need(signatures.length === hops, `\`set_signatures\` must have ${hops} entries`);
  need(verifyingKeys.length === hops, `\`verifyingKeys\` must have ${hops} entries`);
  for (const [hop, signature] of signatures.entries())
    await verifyKeySet(keySet, hop, signature, verifyingKeys[hop]!);
}
