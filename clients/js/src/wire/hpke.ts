// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and AES-128-GCM, for one message
// per key, without associated data.
//
// The ephemeral key is an argument, so that published vectors can check what is made.  Only
// `seal.ts` calls `sealWith`, with a key that it has just drawn; the package exports neither.
// Source: RFC 9180.

import { concatenate, utf8 } from "../bytes.js";
import { hmac } from "../maths/sha256.js";
import type { OwnBytes } from "./web_crypto.js";
import { own, subtle } from "./web_crypto.js";

const X25519 = "X25519";
const ENCAPSULATED_BYTES = 32;
const NOTHING = new Uint8Array(0);
// KEM 0x0020 is X25519 with HKDF-SHA256; KDF 0x0001 is HKDF-SHA256; AEAD 0x0001 is AES-128-GCM.
const KEM_SUITE = concatenate(utf8("KEM"), Uint8Array.of(0, 0x20));
const SUITE = concatenate(utf8("HPKE"), Uint8Array.of(0, 0x20, 0, 1, 0, 1));
// What stands before the 32 bytes of a private key of X25519 in PKCS #8.
const PRIVATE_PREFIX = Uint8Array.of(48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 110, 4, 34, 4, 32);

interface LayerKey {
  readonly key: CryptoKey;
  readonly nonce: OwnBytes;
}

/** Returns a new key pair, whose private key cannot be read. */
export async function newKeyPair(): Promise<CryptoKeyPair> {
  return (await subtle().generateKey(X25519, false, ["deriveBits"])) as CryptoKeyPair;
}

/** Returns the key pair with a private key of 32 bytes. */
export async function readKeyPair(privateKey: Uint8Array): Promise<CryptoKeyPair> {
  const data = own(concatenate(PRIVATE_PREFIX, privateKey));
  const key = await subtle().importKey("pkcs8", data, X25519, true, ["deriveBits"]);
  const { x, kty, crv } = await subtle().exportKey("jwk", key);
  const shared = { kty: kty!, crv: crv!, x: x! };
  const publicKey = await subtle().importKey("jwk", shared, X25519, true, []);
  return { privateKey: key, publicKey };
}

/** Returns the encapsulated key and the encrypted content. */
export async function sealWith(
  ephemeral: CryptoKeyPair,
  publicKey: Uint8Array,
  info: Uint8Array,
  content: Uint8Array,
): Promise<Uint8Array> {
  const encapsulated = await rawKey(ephemeral.publicKey);
  const agreed = await agree(ephemeral.privateKey, publicKey);
  const { key, nonce } = await schedule(agreed, concatenate(encapsulated, publicKey), info);
  const encrypted = await subtle().encrypt({ name: "AES-GCM", iv: nonce }, key, own(content));
  return concatenate(encapsulated, new Uint8Array(encrypted));
}

/** Returns the content, or throws an error of the platform. */
export async function open(
  recipient: CryptoKeyPair,
  info: Uint8Array,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  const encapsulated = sealed.slice(0, ENCAPSULATED_BYTES);
  const agreed = await agree(recipient.privateKey, encapsulated);
  const kemContext = concatenate(encapsulated, await rawKey(recipient.publicKey));
  const { key, nonce } = await schedule(agreed, kemContext, info);
  const encrypted = own(sealed.slice(ENCAPSULATED_BYTES));
  return new Uint8Array(await subtle().decrypt({ name: "AES-GCM", iv: nonce }, key, encrypted));
}

async function rawKey(publicKey: CryptoKey): Promise<Uint8Array> {
  return new Uint8Array(await subtle().exportKey("raw", publicKey));
}

/** Returns what both sides compute; a key of small order would make it zero and is refused. */
async function agree(privateKey: CryptoKey, publicKey: Uint8Array): Promise<Uint8Array> {
  const theirs = await subtle().importKey("raw", own(publicKey), X25519, true, []);
  const agreed = await subtle().deriveBits({ name: X25519, public: theirs }, privateKey, 256);
  const bytes = new Uint8Array(agreed);
  if (bytes.every((byte) => byte === 0)) throw new RangeError("the shared secret is zero");
  return bytes;
}

/** The key schedule of base mode: `kemContext` is the encapsulated key and the recipient's key. */
async function schedule(
  agreed: Uint8Array,
  kemContext: Uint8Array,
  info: Uint8Array,
): Promise<LayerKey> {
  const agreedKey = extract(KEM_SUITE, NOTHING, "eae_prk", agreed);
  const shared = expand(KEM_SUITE, agreedKey, "shared_secret", kemContext, 32);
  const noPsk = extract(SUITE, NOTHING, "psk_id_hash", NOTHING);
  const infoHash = extract(SUITE, NOTHING, "info_hash", info);
  const context = concatenate(Uint8Array.of(0), noPsk, infoHash);
  const secret = extract(SUITE, shared, "secret", NOTHING);
  const keyBytes = own(expand(SUITE, secret, "key", context, 16));
  const usages: KeyUsage[] = ["encrypt", "decrypt"];
  const key = await subtle().importKey("raw", keyBytes, "AES-GCM", false, usages);
  return { key, nonce: own(expand(SUITE, secret, "base_nonce", context, 12)) };
}

/** LabeledExtract of the standard. */
function extract(
  suite: Uint8Array,
  salt: Uint8Array,
  label: string,
  material: Uint8Array,
): Uint8Array {
  return hmac(salt, utf8("HPKE-v1"), suite, utf8(label), material);
}

/** LabeledExpand of the standard, for at most 32 bytes. */
function expand(
  suite: Uint8Array,
  secret: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const labels = concatenate(Uint8Array.of(0, length), utf8("HPKE-v1"), suite, utf8(label));
  return hmac(secret, labels, info, Uint8Array.of(1)).slice(0, length);
}
