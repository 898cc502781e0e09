// The blind token of a device for one task: how it is obtained and kept, and what follows from it.
// Loaded only for a task with an issuer.
//
// The token pays for one message and fixes its public coins.  Where the task states the defence
// "seeds" it also fixes the hash seeds of the reports.  Without a shuffler a message is
//
//     blind token 288 | envelopes of version 1, one after another | zeros

import { base64url, concatenate, hex, unhex } from "../bytes.js";
import { answeredBytes, fromBase64url } from "../core/base64url.js";
import { AccessError, need } from "../errors.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { PendingToken } from "../wire/tokens.js";
import {
  blind,
  blindedBytes,
  coinBytesOf,
  finalize,
  readIssuerKey,
  readToken,
  seedDraw,
  TOKEN_BYTES,
  tokenBytes,
} from "../wire/tokens.js";
import type { Client } from "./client.js";
import type { TaskEntry } from "./ledger_file.js";
import { keepBytes, taskEntry } from "./ledger_file.js";
import type { MakePayload } from "./message.js";
import { freshPayload } from "./message.js";
import type { Address } from "./transport.js";
import { exchange } from "./transport.js";

const ISSUER_KEY_BYTES = 342;
const MODULUS_BYTES = 256;
const NONCE_BYTES = 32;
const SALT_BYTES = 48;
const HEADER_BYTES = 44; // of an envelope of version 1
const SUBJECT_BYTES = 16;
const SLOT_BYTES = 2;

/** Refuses a task whose tokens nobody could issue or use. */
export function checkNotice({ collection, distinct }: Notice): void {
  const { issuer, defence, enrolment } = collection!;
  need(
    defence === undefined || defence === "seeds",
    "`defence` must be one of seeds, or left out",
  );
  need(issuer !== undefined, "`defence` may be seeds only where `issuer` is set");
  fromBase64url("issuer", issuer, ISSUER_KEY_BYTES);
  need(!enrolment, "`enrolment` must be false where `issuer` is set");
  need(distinct === undefined, "`issuer` must be left out of a longitudinal task");
}

/** Refuses to go on without a finished token. */
export function checkEntry({ token }: TaskEntry): void {
  if (token === undefined)
    throw new AccessError("this task needs a blind token, and this device has none yet");
}

/** Returns the function that makes payloads under the seeds of the token, if it fixes them. */
export function makePayloads(notice: Notice, { token }: TaskEntry): MakePayload | undefined {
  if (!notice.collection?.defence) return undefined;
  const kept = readToken(unhex(token!));
  return (asked, index, rng) =>
    freshPayload(asked, index, rng, seedDraw(kept, notice.fingerprint, asked.address.slot));
}

/** Returns the message with its token, filled up to the one length of its round. */
export function joinToken(
  { shuffle, declares, domain }: Notice,
  { ask: { slots, width } }: Round,
  envelopes: Uint8Array,
  { token }: TaskEntry,
): Uint8Array {
  if (shuffle) return envelopes; // they are sealed together with their token
  const subject = declares.includes("subject") ? SUBJECT_BYTES : 0;
  const slot = slots > 1 ? SLOT_BYTES : 0;
  const fields = HEADER_BYTES + subject + slot + (domain.publicBytes ?? 0);
  const message = new Uint8Array(TOKEN_BYTES + slots * (fields + width)); // zeros fill it up
  message.set(concatenate(unhex(token!), envelopes));
  return message;
}

/** Returns whether the token is not finished. */
function isTokenMissing({ ledger, notice }: Client): Promise<boolean> {
  return ledger.update((file) => taskEntry(file, notice.digest).token === undefined);
}

/** Returns the number that the issuer has to sign: kept before it leaves, the same until then. */
export async function blindedToken({ ledger, notice }: Client): Promise<Uint8Array> {
  const made = blind(issuerKey(notice), notice.fingerprint);
  const fresh = hex(concatenate(made.nonce, made.salt, made.factor));
  const kept = await ledger.update((file) => {
    const entry = taskEntry(file, notice.digest);
    if (entry.token !== undefined)
      throw new AccessError("this device has its blind token for this task already");
    return (entry.pending ??= fresh);
  });
  return blindedBytes(readPending(notice, kept));
}

/** Keeps the finished token and the coin that follows from it; the factor is erased. */
export async function finishToken(client: Client, blindSignature: Uint8Array): Promise<void> {
  const { ledger, notice } = client;
  const { pending, token } = await ledger.update((file) => taskEntry(file, notice.digest));
  if (token !== undefined) return; // another tab was faster
  need(pending, "this device waits for no blind signature of this task");
  const finished = await finalize(readPending(notice, pending), blindSignature);
  await ledger.update((file) => {
    const entry = taskEntry(file, notice.digest);
    entry.token ??= hex(tokenBytes(finished));
    delete entry.pending;
    const kept = readToken(unhex(entry.token));
    keepBytes(entry, "coin", coinBytesOf(kept, notice.fingerprint));
  });
}

/**
 * Lets the issuer sign this device's number, and keeps the token, unless there is one already.
 * `agree` asks the owner before the issuer hears of this device.  Returns whether it was called.
 */
export async function obtainToken(
  client: Client,
  address: Address,
  enrolmentToken: string | undefined,
  agree: () => Promise<void>,
): Promise<boolean> {
  if (!(await isTokenMissing(client))) return false;
  await agree();
  if (enrolmentToken === undefined)
    throw new AccessError("this task asks enrolled devices only, and this device has no token");
  const blinded = base64url(await blindedToken(client));
  const path = [client.notice.name, "tokens"];
  const content = await exchange(address, path, { token: enrolmentToken, blinded });
  const signature = answeredBytes("blind_signature", content.blind_signature, MODULUS_BYTES);
  await finishToken(client, signature);
  return true;
}

function issuerKey({ collection }: Notice) {
  return readIssuerKey(fromBase64url("issuer", collection?.issuer, ISSUER_KEY_BYTES));
}

function readPending(notice: Notice, kept: string): PendingToken {
  const bytes = unhex(kept);
  return {
    key: issuerKey(notice),
    digest: notice.fingerprint,
    nonce: bytes.slice(0, NONCE_BYTES),
    salt: bytes.slice(NONCE_BYTES, NONCE_BYTES + SALT_BYTES),
    factor: bytes.slice(NONCE_BYTES + SALT_BYTES),
  };
}
