// What a device does for a shuffled task beyond others: keys and sealing.
// Loaded only for a shuffled task.
//
// The platform's cryptography is asynchronous, and a transaction of a ledger is not.  So a message
// is drawn and sealed first, on a copy of the ledger that is thrown away, and one transaction then
// writes the charge and the sealed bytes.  Whatever happens in between, nothing has left.

import { concatenate, unhex } from "../bytes.js";
import { answeredBytes } from "../core/base64url.js";
import { CodecError, MismatchError, need } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { Shuffle } from "../tasks/shuffle.js";
import type { Document, Json } from "../wire/codec.js";
import { canonical, fingerprintOf, isDocument } from "../wire/codec.js";
import { verifyAll } from "../wire/key_set.js";
import { verifyStatement } from "../wire/round_keys.js";
import { seal } from "../wire/seal.js";
import { TOKEN_BYTES } from "../wire/tokens.js";
import type { Answer, Client } from "./client.js";
import { taskEntry } from "./ledger_file.js";
import type { Address } from "./transport.js";
import { exchange } from "./transport.js";

const MAX_KEYS = 4; // three hops and the collector
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const HEADER_BYTES = 60; // of an envelope of version 2
const SUBJECT_BYTES = 16;
const SLOT_BYTES = 2;

/** The public key of one hop for one round, as the collector serves it: not verified yet. */
export interface SignedKey {
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** The keys of a round in the order of the hops, the collector's last: not verified yet. */
export interface RoundKeys {
  readonly keys: readonly SignedKey[];
  /** The signatures of the hops on all keys together. */
  readonly setSignatures: readonly Uint8Array[];
  /** When the round opened, in seconds since 1970, if the collector says it. */
  readonly opened?: number;
}

/** Returns the keys of a round; every witness must show the same ones. */
export async function fetchKeys(
  [collector, ...witnesses]: readonly [Address, ...Address[]],
  notice: Notice,
  { number }: Round,
): Promise<RoundKeys> {
  const path = [notice.name, "rounds", String(number), "keys"];
  const content = await exchange(collector, path);
  for (const witness of witnesses)
    if (canonical(await exchange(witness, path)) !== canonical(content))
      throw new MismatchError("a witness shows other keys than the collector");
  return readKeys(content, notice, number);
}

function readKeys(content: Document, { digest }: Notice, number: number): RoundKeys {
  const { opened, ...others } = content;
  if (Object.keys(others).sort().join() !== "digest,keys,round,set_signatures")
    throw new CodecError(
      "the collector's answer must have a digest, a round, keys and set signatures",
    );
  if (others.digest !== digest)
    throw new MismatchError("the collector states keys of another task than expected");
  if (others.round !== number)
    throw new MismatchError("the collector states keys of another round than expected");
  if (!Array.isArray(others.keys) || others.keys.length > MAX_KEYS)
    throw new CodecError(`\`keys\` must be a list of at most ${MAX_KEYS} keys`);
  const keys = others.keys.map(readKey);
  const setSignatures = readSetSignatures(others.set_signatures!);
  if (opened === undefined) return { keys, setSignatures };
  if (!Number.isSafeInteger(opened) || Number(opened) < 0)
    throw new CodecError("`opened` must be a whole number from 0 up");
  return { keys, setSignatures, opened: Number(opened) };
}

function readSetSignatures(listed: Json): readonly Uint8Array[] {
  if (!Array.isArray(listed) || listed.length >= MAX_KEYS)
    throw new CodecError(
      `\`set_signatures\` must be a list of at most ${MAX_KEYS - 1} signatures`,
    );
  return listed.map((entry) => answeredBytes("set_signatures", entry, SIGNATURE_BYTES));
}

function readKey(content: Json, hop: number): SignedKey {
  if (!isDocument(content) || Object.keys(content).sort().join() !== "hop,public_key,signature")
    throw new CodecError("each entry of `keys` must have a hop, a public key and a signature");
  if (content.hop !== hop) throw new CodecError("`keys` must stand in the order of the hops");
  return {
    publicKey: answeredBytes("public_key", content.public_key, KEY_BYTES),
    signature: answeredBytes("signature", content.signature, SIGNATURE_BYTES),
  };
}

/** Seals answers to one round of one shuffled task, for keys that it has verified. */
export class Sealing {
  private constructor(
    readonly notice: Notice,
    readonly round: Round,
    readonly keys: readonly SignedKey[],
  ) {}

  /**
   * Verifies every key against the document, and that every hop has signed all of them as one set
   * for exactly this round; refuses keys for which nothing can be sealed.
   */
  static async open(
    notice: Notice,
    round: Round,
    { keys, setSignatures }: RoundKeys,
  ): Promise<Sealing> {
    const signingKeys = shuffleOf(notice).signingKeys;
    need(keys.length === signingKeys.length, `\`keys\` must have ${signingKeys.length} entries`);
    const place = { digest: notice.fingerprint, round: round.number };
    for (const [hop, verifyingKey] of signingKeys.entries()) {
      const { publicKey, signature } = keys[hop]!;
      await verifyStatement({ ...place, hop, publicKey }, signature, verifyingKey);
    }
    const roundHash = fingerprintOf(canonical(round.document));
    const publicKeys = keys.map(({ publicKey }) => publicKey);
    const keySet = { ...place, roundHash, publicKeys };
    await verifyAll(keySet, setSignatures, signingKeys.slice(0, -1));
    const sealing = new Sealing(notice, round, keys);
    await sealing.seal(new Uint8Array(0), new Uint8Array(sealing.tokenBytes));
    return sealing;
  }

  /** Returns the sealed message; `token` is empty for a task without an issuer. */
  seal(envelopes: Uint8Array, token: Uint8Array): Promise<Uint8Array> {
    const { notice, round, keys, messageBytes } = this;
    need(token.length === this.tokenBytes, `\`token\` must have exactly ${this.tokenBytes} bytes`);
    need(token.length + envelopes.length <= messageBytes, "a message has too many envelopes");
    const message = new Uint8Array(messageBytes); // zeros fill it up
    message.set(concatenate(token, envelopes));
    const hops = shuffleOf(notice).hops.length;
    const context = { digest: notice.fingerprint, round: round.number, hops, messageBytes };
    const publicKeys = keys.map(({ publicKey }) => publicKey);
    return seal(message, publicKeys, context);
  }

  /** Returns the sealed answer to a value, and charges nothing yet. */
  async answer(client: Client, value: unknown): Promise<Answer> {
    const { notice, round } = this;
    if (client.notice.digest !== notice.digest)
      throw new MismatchError("these keys belong to another task, or to another of its rounds");
    const { drawn, token } = await client.ledger.update((file) => {
      const copy = structuredClone(file);
      const kept = taskEntry(copy, notice.digest).token ?? "";
      return { drawn: client.respond(copy, value, round), token: unhex(kept) };
    });
    return { ...drawn, message: await this.seal(drawn.message, token) };
  }

  get tokenBytes(): number {
    return this.notice.collection?.issuer === undefined ? 0 : TOKEN_BYTES;
  }

  /** The length of every message of the round under its last layer. */
  get messageBytes(): number {
    const { declares } = this.notice;
    const { slots, width } = this.round.ask;
    const subject = declares.includes("subject") ? SUBJECT_BYTES : 0;
    const slot = slots > 1 ? SLOT_BYTES : 0;
    return this.tokenBytes + slots * (HEADER_BYTES + subject + slot + width);
  }
}

function shuffleOf({ shuffle }: Notice): Shuffle {
  need(shuffle, "`notice` must be that of a shuffled task");
  return shuffle;
}
