// Round keys: the key of one hop for one round of one task, signed by the hop's long-term Ed25519
// key, which the task's document pins.  A device seals only for keys that pass.
//
//     "sottovoce/key/v1" | task digest 32 | round u16, little-endian | hop u8 | public key 32
//
// Source: RFC 8032.

import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { CodecError, MismatchError, MissingExtraError } from "../errors.js";
import { MAX_HOPS, needBytes, needWhole } from "./seal.js";
import { own, subtle } from "./web_crypto.js";

const SIGNATURE_BYTES = 64;

/** The statement "this is the public key of this hop for this round of this task". */
export interface KeyStatement {
  readonly digest: Uint8Array;
  readonly round: number;
  readonly hop: number;
  readonly publicKey: Uint8Array;
}

/** Returns the bytes that are signed. */
export function statementBytes({ digest, round, hop, publicKey }: KeyStatement): Uint8Array {
  needBytes("digest", digest, 32);
  needWhole("round", round, 0, 0xffff);
  needWhole("hop", hop, 0, MAX_HOPS);
  needBytes("publicKey", publicKey, 32);
  const place = [littleEndian(round, 2), Uint8Array.of(hop)];
  return concatenate(utf8("sottovoce/key/v1"), digest, ...place, publicKey);
}

/** Refuses the statement unless the hop with this long-term public key has signed it. */
export function verifyStatement(
  statement: KeyStatement,
  signature: Uint8Array,
  verifyingKey: Uint8Array,
): Promise<void> {
  const refusal =
    "a round key is not signed for this task, round and hop by the key in the document";
  return verifySignature(statementBytes(statement), signature, verifyingKey, refusal);
}

/** Throws with `refusal` unless the party with this long-term public key has signed the bytes. */
export async function verifySignature(
  data: Uint8Array,
  signature: Uint8Array,
  verifyingKey: Uint8Array,
  refusal: string,
): Promise<void> {
  needBytes("verifyingKey", verifyingKey, 32);
  if (signature.length !== SIGNATURE_BYTES)
    throw new CodecError(`a signature must have ${SIGNATURE_BYTES} bytes`);
  if (!(await isSigned(own(data), signature, verifyingKey))) throw new MismatchError(refusal);
}

async function isSigned(
  data: Uint8Array<ArrayBuffer>,
  signature: Uint8Array,
  verifyingKey: Uint8Array,
): Promise<boolean> {
  const crypto = subtle();
  try {
    const key = await crypto.importKey("raw", own(verifyingKey), "Ed25519", false, ["verify"]);
    return await crypto.verify("Ed25519", key, own(signature), data);
  } catch (error) {
    if ((error as Error).name === "NotSupportedError")
      throw new MissingExtraError("round keys need Ed25519: use a newer browser");
    return false; // the bytes are no point of the curve
  }
}
