import { base64url, concatenate, unhex, utf8 } from "../bytes.js";
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
const KEY_PREFIX = unhex("30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d" +
    "010108300b0609608648016503040202a2030201300382010f003082010a0282010100");
const KEY_SUFFIX = unhex("0203010001");
export function readIssuerKey(data) {
    needBytes("data", data, KEY_PREFIX.length + MODULUS_BYTES + KEY_SUFFIX.length);
    const end = KEY_PREFIX.length + MODULUS_BYTES;
    const modulusBytes = data.slice(KEY_PREFIX.length, end);
    need(sameBytes(data.slice(0, KEY_PREFIX.length), KEY_PREFIX) &&
        sameBytes(data.slice(end), KEY_SUFFIX), "`data` must be an RSASSA-PSS key with SHA-384, as in RFC 9578");
    need(modulusBytes[0] >= 0x80, `\`data\` must hold a modulus of exactly ${MODULUS_BITS} bits`);
    const modulus = numberOf(modulusBytes);
    need(modulus & 1n, "`data` must hold an odd modulus");
    return { data, modulus };
}
export function blind(key, digest) {
    needBytes("digest", digest, 32);
    const rng = new SystemRng();
    const nonce = rng.bytes(NONCE_BYTES);
    const salt = rng.bytes(SALT_BYTES);
    return { key, digest, nonce, salt, factor: bytesOf(randomUnit(rng, key.modulus), MODULUS_BYTES) };
}
export async function blindedBytes(pending) {
    const { key, digest, nonce, salt, factor } = pending;
    const encoded = await rsa.encode(tokenInput(nonce, digest, key), salt, MODULUS_BITS);
    const blinded = rsa.blind(encoded, numberOf(factor), key.modulus, EXPONENT);
    return bytesOf(blinded, MODULUS_BYTES);
}
export async function finalize(pending, blindSignature) {
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
export async function verify({ nonce, signature }, key, digest) {
    const content = own(tokenInput(nonce, digest, key));
    const algorithm = { name: "RSA-PSS", hash: "SHA-384" };
    const n = base64url(bytesOf(key.modulus, MODULUS_BYTES));
    const shared = { kty: "RSA", n, e: "AQAB" };
    const crypto = subtle();
    const publicKey = await crypto.importKey("jwk", shared, algorithm, false, ["verify"]);
    const padding = { name: "RSA-PSS", saltLength: SALT_BYTES };
    if (await crypto.verify(padding, publicKey, own(signature), content))
        return;
    throw new MismatchError("a token is not signed for this task by the issuer in the document");
}
export function tokenBytes({ nonce, signature }) {
    return concatenate(nonce, signature);
}
export function readToken(data) {
    if (data.length !== TOKEN_BYTES)
        throw new CodecError(`a token must have ${TOKEN_BYTES} bytes`);
    return { nonce: data.slice(0, NONCE_BYTES), signature: data.slice(NONCE_BYTES) };
}
export function seedOf({ signature }, digest) {
    const hash = sha256(utf8("sottovoce/seed/v1"), digest, signature);
    return new DataView(hash.buffer).getBigUint64(0, true);
}
export function coinBytesOf({ signature }, digest) {
    return sha256(utf8("sottovoce/coin/v1"), digest, signature).slice(0, 16);
}
export function challengeDigest(digest) {
    needBytes("digest", digest, 32);
    const issuer = concatenate(Uint8Array.of(0, 9), utf8("sottovoce"));
    const redemptionContext = concatenate(Uint8Array.of(32), digest);
    const noOrigin = new Uint8Array(2);
    return sha256(Uint8Array.of(0, 2), issuer, redemptionContext, noOrigin);
}
function tokenInput(nonce, digest, key) {
    return concatenate(Uint8Array.of(0, 2), nonce, challengeDigest(digest), sha256(key.data));
}
function randomUnit(rng, modulus) {
    for (;;) {
        const number = numberOf(rng.bytes(MODULUS_BYTES));
        if (number > 0n && number < modulus)
            return number;
    }
}
function sameBytes(left, right) {
    return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
