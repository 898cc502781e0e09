// Sealed messages: an onion with one layer of encryption per hop and one for the collector.
//
//     layer(h) = encapsulated key 32 | AES-128-GCM(layer(h + 1)) | tag 16
//     info = "sottovoce/seal/v2" | task digest 32 | round u16, little-endian | hop u8
//
// Hops are numbered from 0; the collector has the number after the last hop.  The info binds a
// layer to its task, round and hop.  All messages of a round have one length.

import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { CodecError, MismatchError, MissingExtraError, need, ParameterError } from "../errors.js";
import { newKeyPair, open, readKeyPair, sealWith } from "./hpke.js";
import { subtle } from "./web_crypto.js";

export const LAYER_BYTES = 48; // an encapsulated key of 32 bytes and a tag of 16
export const MAX_HOPS = 8;
const MAX_MESSAGE_BYTES = 1 << 20;

/** What all sealed messages of one round have in common. */
export interface SealContext {
  readonly digest: Uint8Array;
  readonly round: number;
  /** The number of hops before the collector. */
  readonly hops: number;
  /** The length of what the collector finds under the last layer. */
  readonly messageBytes: number;
}

/** Returns the message in one layer per key: the first hop's key first, the collector's last. */
export async function seal(
  message: Uint8Array,
  keys: readonly Uint8Array[],
  context: SealContext,
): Promise<Uint8Array> {
  checkContext(context);
  needBytes("message", message, context.messageBytes);
  need(keys.length === context.hops + 1, `\`keys\` must have ${context.hops + 1} entries`);
  for (const [hop, key] of keys.entries()) needBytes(`keys[${hop}]`, key, 32);
  let sealed = message;
  for (let hop = context.hops; hop >= 0; hop--)
    sealed = await sealLayer(sealed, keys[hop]!, layerInfo(context, hop));
  return sealed;
}

/** Returns what is under the layer of one hop, or refuses what was not sealed for this hop. */
export async function openLayer(
  sealed: Uint8Array,
  privateKey: Uint8Array,
  context: SealContext,
  hop: number,
): Promise<Uint8Array> {
  needBytes("privateKey", privateKey, 32);
  const length = sealedBytes(context, hop);
  if (sealed.length !== length)
    throw new CodecError(`a sealed message must have ${length} bytes at this hop`);
  const recipient = await readKeyPair(privateKey);
  try {
    return await open(recipient, layerInfo(context, hop), sealed);
  } catch {
    throw new MismatchError(
      "a sealed message does not open: it was sealed for another task, round, hop or key, or it " +
        "was changed on the way",
    );
  }
}

/** Returns the length of what a hop receives, or the collector under the number `hops`. */
export function sealedBytes(context: SealContext, hop: number): number {
  checkContext(context);
  needWhole("hop", hop, 0, context.hops);
  return context.messageBytes + LAYER_BYTES * (context.hops + 1 - hop);
}

/** Returns the bytes that bind a layer to its task, round and hop. */
export function layerInfo({ digest, round }: SealContext, hop: number): Uint8Array {
  const place = [littleEndian(round, 2), Uint8Array.of(hop)];
  return concatenate(utf8("sottovoce/seal/v2"), digest, ...place);
}

/** Refuses a byte array of another length; the error shows the lengths alone. */
export function needBytes(name: string, value: Uint8Array, length: number): void {
  need(
    value instanceof Uint8Array && value.length === length,
    `\`${name}\` must have exactly ${length} bytes`,
  );
}

/** Refuses all but a whole number between two bounds, both allowed. */
export function needWhole(name: string, value: number, low: number, high: number): void {
  need(
    Number.isInteger(value) && value >= low && value <= high,
    `\`${name}\` must be a whole number from ${low} to ${high}, not ${value}`,
  );
}

async function sealLayer(
  content: Uint8Array,
  publicKey: Uint8Array,
  info: Uint8Array,
): Promise<Uint8Array> {
  const ephemeral = await drawKeyPair();
  try {
    return await sealWith(ephemeral, publicKey, info, content);
  } catch {
    throw new ParameterError("each entry of `keys` must be a point of large order");
  }
}

async function drawKeyPair(): Promise<CryptoKeyPair> {
  subtle();
  try {
    return await newKeyPair();
  } catch {
    throw new MissingExtraError("sealed messages need X25519: use a newer browser");
  }
}

function checkContext({ digest, round, hops, messageBytes }: SealContext): void {
  needBytes("digest", digest, 32);
  needWhole("round", round, 0, 0xffff);
  needWhole("hops", hops, 0, MAX_HOPS);
  needWhole("messageBytes", messageBytes, 1, MAX_MESSAGE_BYTES);
}
