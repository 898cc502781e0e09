// Blind tokens: one anonymous report per person, with a seed that nobody chose.
//
// An issuer signs one number per person and task without seeing what it signs; the device turns the
// signature into a token of Privacy Pass (type 2: RSABSSA-SHA384-PSS-Deterministic, 2048 bits).
//
//     token input = type u16 = 2 | nonce 32 | SHA-256(challenge) | SHA-256(issuer's key)
//     challenge = type u16 = 2 | 9 u16 | "sottovoce" | 32 u8 | task digest 32 | 0 u16
//     seed draw = SHA-256("sottovoce/seed/v1" | task digest | signature | slot u32, little-endian),
//                 first 8 bytes, little-endian
//     coin bytes = SHA-256("sottovoce/coin/v1" | task digest | signature), first 16 bytes
//
// Source: RFC 9578, RFC 9474.

import { base64url, concatenate, littleEndian, unhex, utf8 } from "../bytes.js";
import { SystemRng } from "../core/rng.js";
import { CodecError, MismatchError, need } from "../errors.js";
import { sha256 } from "../maths/sha256.js";
import * as rsa from "./blind_rsa.js";
import { bytesOf, numberOf, SALT_BYTES } from "./blind_rsa.js";
import { needBytes } from "./seal.js";
import { own, subtle } from "./web_crypto.js";

const MODULUS_BITS = 2048;
const MODULUS_BYTES = 256;
const EXPONENT = 65537n;
const NONCE_BYTES = 32;
export const TOKEN_BYTES = NONCE_BYTES + MODULUS_BYTES;
// What stands before and after the modulus in the SubjectPublicKeyInfo of such a key.
const KEY_PREFIX = unhex(
  "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d" +
    "010108300b0609608648016503040202a2030201300382010f003082010a0282010100",
);
const KEY_SUFFIX = unhex("0203010001");

/** The key that a task's document pins. */
export interface IssuerPublicKey {
  readonly data: Uint8Array;
  readonly modulus: bigint;
}

/** A token that is not signed yet: what a device keeps.  The factor is secret. */
export interface PendingToken {
  readonly key: IssuerPublicKey;
  readonly digest: Uint8Array;
  readonly nonce: Uint8Array;
  readonly salt: Uint8Array;
  readonly factor: Uint8Array;
}

/** A nonce and the issuer's signature on it. */
export interface Token {
  readonly nonce: Uint8Array;
  readonly signature: Uint8Array;
}

/** Reads a 2048-bit key of RSASSA-PSS as RFC 9578 writes it; refuses every other. */
export function readIssuerKey(data: Uint8Array): IssuerPublicKey {
  needBytes("data", data, KEY_PREFIX.length + MODULUS_BYTES + KEY_SUFFIX.length);
  const end = KEY_PREFIX.length + MODULUS_BYTES;
  const modulusBytes = data.slice(KEY_PREFIX.length, end);
  need(
    sameBytes(data.slice(0, KEY_PREFIX.length), KEY_PREFIX) &&
      sameBytes(data.slice(end), KEY_SUFFIX),
    "`data` must be an RSASSA-PSS key with SHA-384, as in RFC 9578",
  );
  need(modulusBytes[0]! >= 0x80, `\`data\` must hold a modulus of exactly ${MODULUS_BITS} bits`);
  const modulus = numberOf(modulusBytes);
  need(modulus & 1n, "`data` must hold an odd modulus");
  return { data, modulus };
}

/** Returns a new token for one task, to be signed by the issuer with this key. */
export function blind(key: IssuerPublicKey, digest: Uint8Array): PendingToken {
  needBytes("digest", digest, 32);
  const rng = new SystemRng();
  const nonce = rng.bytes(NONCE_BYTES);
  const salt = rng.bytes(SALT_BYTES);
  return { key, digest, nonce, salt, factor: bytesOf(randomUnit(rng, key.modulus), MODULUS_BYTES) };
}

/** Returns what the issuer signs; the same bytes each time, so that a request can be repeated. */
export async function blindedBytes(pending: PendingToken): Promise<Uint8Array> {
  const { key, digest, nonce, salt, factor } = pending;
  const encoded = await rsa.encode(tokenInput(nonce, digest, key), salt, MODULUS_BITS);
  const blinded = rsa.blind(encoded, numberOf(factor), key.modulus, EXPONENT);
  return bytesOf(blinded, MODULUS_BYTES);
}

/** Returns the finished token; refuses a blind signature that is not one. */
export async function finalize(pending: PendingToken, blindSignature: Uint8Array): Promise<Token> {
  const { key, digest, nonce, factor } = pending;
  if (blindSignature.length !== MODULUS_BYTES)
    throw new CodecError(`a blind signature must have ${MODULUS_BYTES} bytes`);
  const number = numberOf(blindSignature);
  if (number === 0n || number >= key.modulus)
    throw new CodecError("a blind signature must be a number above 0 and below the modulus");
  const signature = bytesOf(rsa.unblind(number, numberOf(factor), key.modulus), MODULUS_BYTES);
  const token = { nonce, signature };
  await verify(token, key, digest);
  return token;
}

/** Refuses a token that the issuer with this key did not sign for this task. */
export async function verify(
  { nonce, signature }: Token,
  key: IssuerPublicKey,
  digest: Uint8Array,
): Promise<void> {
  const content = own(tokenInput(nonce, digest, key));
  const algorithm = { name: "RSA-PSS", hash: "SHA-384" };
  const n = base64url(bytesOf(key.modulus, MODULUS_BYTES));
  const shared = { kty: "RSA", n, e: "AQAB" };
  const crypto = subtle();
  const publicKey = await crypto.importKey("jwk", shared, algorithm, false, ["verify"]);
  const padding = { name: "RSA-PSS", saltLength: SALT_BYTES };
  if (await crypto.verify(padding, publicKey, own(signature), content)) return;
  throw new MismatchError("a token is not signed for this task by the issuer in the document");
}

/** Returns the token as it travels. */
export function tokenBytes({ nonce, signature }: Token): Uint8Array {
  return concatenate(nonce, signature);
}

/** Returns the token in some bytes. */
export function readToken(data: Uint8Array): Token {
  if (data.length !== TOKEN_BYTES) throw new CodecError(`a token must have ${TOKEN_BYTES} bytes`);
  return { nonce: data.slice(0, NONCE_BYTES), signature: data.slice(NONCE_BYTES) };
}

/** Returns the number in [0, 2^64) that gives the hash seed of one slot in this task. */
export function seedDraw({ signature }: Token, digest: Uint8Array, slot: number): bigint {
  const hash = sha256(utf8("sottovoce/seed/v1"), digest, signature, littleEndian(slot, 4));
  return new DataView(hash.buffer).getBigUint64(0, true);
}

/** Returns the 16 bytes from which the device's public coins in this task follow. */
export function coinBytesOf({ signature }: Token, digest: Uint8Array): Uint8Array {
  return sha256(utf8("sottovoce/coin/v1"), digest, signature).slice(0, 16);
}

/** Returns SHA-256 of the challenge that asks for tokens of one task. */
export function challengeDigest(digest: Uint8Array): Uint8Array {
  needBytes("digest", digest, 32);
  const issuer = concatenate(Uint8Array.of(0, 9), utf8("sottovoce"));
  const redemptionContext = concatenate(Uint8Array.of(32), digest);
  const noOrigin = new Uint8Array(2);
  return sha256(Uint8Array.of(0, 2), issuer, redemptionContext, noOrigin);
}

function tokenInput(nonce: Uint8Array, digest: Uint8Array, key: IssuerPublicKey): Uint8Array {
  return concatenate(Uint8Array.of(0, 2), nonce, challengeDigest(digest), sha256(key.data));
}

/** Returns a number uniform in [1, modulus). */
function randomUnit(rng: SystemRng, modulus: bigint): bigint {
  for (;;) {
    const number = numberOf(rng.bytes(MODULUS_BYTES));
    if (number > 0n && number < modulus) return number;
  }
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
