import { concatenate, utf8 } from "../bytes.js";
import { hmac } from "../maths/sha256.js";
import { own, subtle } from "./web_crypto.js";
const X25519 = "X25519";
const ENCAPSULATED_BYTES = 32;
const NOTHING = new Uint8Array(0);
const KEM_SUITE = concatenate(utf8("KEM"), Uint8Array.of(0, 0x20));
const SUITE = concatenate(utf8("HPKE"), Uint8Array.of(0, 0x20, 0, 1, 0, 1));
const PRIVATE_PREFIX = Uint8Array.of(48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 110, 4, 34, 4, 32);
export async function newKeyPair() {
    return (await subtle().generateKey(X25519, false, ["deriveBits"]));
}
export async function readKeyPair(privateKey) {
    const data = own(concatenate(PRIVATE_PREFIX, privateKey));
    const key = await subtle().importKey("pkcs8", data, X25519, true, ["deriveBits"]);
    const { x, kty, crv } = await subtle().exportKey("jwk", key);
    const shared = { kty: kty, crv: crv, x: x };
    const publicKey = await subtle().importKey("jwk", shared, X25519, true, []);
    return { privateKey: key, publicKey };
}
export async function sealWith(ephemeral, publicKey, info, content) {
    const encapsulated = await rawKey(ephemeral.publicKey);
    const agreed = await agree(ephemeral.privateKey, publicKey);
    const { key, nonce } = await schedule(agreed, concatenate(encapsulated, publicKey), info);
    const encrypted = await subtle().encrypt({ name: "AES-GCM", iv: nonce }, key, own(content));
    return concatenate(encapsulated, new Uint8Array(encrypted));
}
export async function open(recipient, info, sealed) {
    const encapsulated = sealed.slice(0, ENCAPSULATED_BYTES);
    const agreed = await agree(recipient.privateKey, encapsulated);
    const kemContext = concatenate(encapsulated, await rawKey(recipient.publicKey));
    const { key, nonce } = await schedule(agreed, kemContext, info);
    const encrypted = own(sealed.slice(ENCAPSULATED_BYTES));
    return new Uint8Array(await subtle().decrypt({ name: "AES-GCM", iv: nonce }, key, encrypted));
}
async function rawKey(publicKey) {
    return new Uint8Array(await subtle().exportKey("raw", publicKey));
}
async function agree(privateKey, publicKey) {
    const theirs = await subtle().importKey("raw", own(publicKey), X25519, true, []);
    const agreed = await subtle().deriveBits({ name: X25519, public: theirs }, privateKey, 256);
    const bytes = new Uint8Array(agreed);
    if (bytes.every((byte) => byte === 0))
        throw new RangeError("the shared secret is zero");
    return bytes;
}
async function schedule(agreed, kemContext, info) {
    const agreedKey = extract(KEM_SUITE, NOTHING, "eae_prk", agreed);
    const shared = expand(KEM_SUITE, agreedKey, "shared_secret", kemContext, 32);
    const noPsk = extract(SUITE, NOTHING, "psk_id_hash", NOTHING);
    const infoHash = extract(SUITE, NOTHING, "info_hash", info);
    const context = concatenate(Uint8Array.of(0), noPsk, infoHash);
    const secret = extract(SUITE, shared, "secret", NOTHING);
    const keyBytes = own(expand(SUITE, secret, "key", context, 16));
    const usages = ["encrypt", "decrypt"];
    const key = await subtle().importKey("raw", keyBytes, "AES-GCM", false, usages);
    return { key, nonce: own(expand(SUITE, secret, "base_nonce", context, 12)) };
}
function extract(suite, salt, label, material) {
    return hmac(salt, utf8("HPKE-v1"), suite, utf8(label), material);
}
function expand(suite, secret, label, info, length) {
    const labels = concatenate(Uint8Array.of(0, length), utf8("HPKE-v1"), suite, utf8(label));
    return hmac(secret, labels, info, Uint8Array.of(1)).slice(0, length);
}
