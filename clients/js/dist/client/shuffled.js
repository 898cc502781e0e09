import { base64url, concatenate, hex, unhex } from "../bytes.js";
import { fromBase64url } from "../core/base64url.js";
import { AccessError, CodecError, MismatchError, need, ParameterError } from "../errors.js";
import { canonical, isDocument } from "../wire/codec.js";
import { verifyStatement } from "../wire/round_keys.js";
import { seal } from "../wire/seal.js";
import { blind, blindedBytes, coinBytesOf, finalize, readIssuerKey, readToken, TOKEN_BYTES, tokenBytes, } from "../wire/tokens.js";
import { keepBytes, taskEntry } from "./ledger_file.js";
import { exchange } from "./transport.js";
const MAX_KEYS = 4;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const ISSUER_KEY_BYTES = 342;
const MODULUS_BYTES = 256;
const NONCE_BYTES = 32;
const SALT_BYTES = 48;
const HEADER_BYTES = 60;
const SUBJECT_BYTES = 16;
const SLOT_BYTES = 2;
export async function fetchKeys([collector, ...witnesses], notice, { number }) {
    const path = [notice.name, "rounds", String(number), "keys"];
    const content = await exchange(collector, path);
    for (const witness of witnesses)
        if (canonical(await exchange(witness, path)) !== canonical(content))
            throw new MismatchError("a witness shows other keys than the collector");
    return readKeys(content, notice, number);
}
function readKeys(content, { digest }, number) {
    const { opened, ...others } = content;
    if (Object.keys(others).sort().join() !== "digest,keys,round")
        throw new CodecError("the collector's answer must have a digest, a round and keys");
    if (others.digest !== digest)
        throw new MismatchError("the collector states keys of another task than expected");
    if (others.round !== number)
        throw new MismatchError("the collector states keys of another round than expected");
    if (!Array.isArray(others.keys) || others.keys.length > MAX_KEYS)
        throw new CodecError(`\`keys\` must be a list of at most ${MAX_KEYS} keys`);
    const keys = others.keys.map(readKey);
    if (opened === undefined)
        return { keys };
    if (!Number.isSafeInteger(opened) || Number(opened) < 0)
        throw new CodecError("`opened` must be a whole number from 0 up");
    return { keys, opened: Number(opened) };
}
function readKey(content, hop) {
    if (!isDocument(content) || Object.keys(content).sort().join() !== "hop,public_key,signature")
        throw new CodecError("each entry of `keys` must have a hop, a public key and a signature");
    if (content.hop !== hop)
        throw new CodecError("`keys` must stand in the order of the hops");
    return {
        publicKey: answered("public_key", content.public_key, KEY_BYTES),
        signature: answered("signature", content.signature, SIGNATURE_BYTES),
    };
}
function answered(name, content, length) {
    try {
        return fromBase64url(name, content, length);
    }
    catch (error) {
        throw new CodecError(error.message);
    }
}
export class Sealing {
    notice;
    round;
    keys;
    constructor(notice, round, keys) {
        this.notice = notice;
        this.round = round;
        this.keys = keys;
    }
    static async open(notice, round, keys) {
        const signingKeys = shuffleOf(notice).signingKeys;
        need(keys.length === signingKeys.length, `\`keys\` must have ${signingKeys.length} entries`);
        for (const [hop, verifyingKey] of signingKeys.entries()) {
            const { publicKey, signature } = keys[hop];
            const digest = notice.fingerprint;
            const statement = { digest, round: round.number, hop, publicKey };
            await verifyStatement(statement, signature, verifyingKey);
        }
        const sealing = new Sealing(notice, round, keys);
        await sealing.seal(new Uint8Array(0), new Uint8Array(sealing.tokenBytes));
        return sealing;
    }
    seal(envelopes, token) {
        const { notice, round, keys, messageBytes } = this;
        need(token.length === this.tokenBytes, `\`token\` must have exactly ${this.tokenBytes} bytes`);
        need(token.length + envelopes.length <= messageBytes, "a message has too many envelopes");
        const message = new Uint8Array(messageBytes);
        message.set(concatenate(token, envelopes));
        const hops = shuffleOf(notice).hops.length;
        const context = { digest: notice.fingerprint, round: round.number, hops, messageBytes };
        const publicKeys = keys.map(({ publicKey }) => publicKey);
        return seal(message, publicKeys, context);
    }
    async answer(client, value) {
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
    get tokenBytes() {
        return this.notice.collection?.issuer === undefined ? 0 : TOKEN_BYTES;
    }
    get messageBytes() {
        const { declares } = this.notice;
        const { slots, width } = this.round.ask;
        const subject = declares.includes("subject") ? SUBJECT_BYTES : 0;
        const slot = slots > 1 ? SLOT_BYTES : 0;
        return this.tokenBytes + slots * (HEADER_BYTES + subject + slot + width);
    }
}
function shuffleOf({ shuffle }) {
    need(shuffle, "`notice` must be that of a shuffled task");
    return shuffle;
}
export function isTokenMissing({ ledger, notice }) {
    if (notice.collection?.issuer === undefined)
        return Promise.resolve(false);
    return ledger.update((file) => taskEntry(file, notice.digest).token === undefined);
}
export async function blindedToken({ ledger, notice }) {
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
export async function finishToken(client, blindSignature) {
    const { ledger, notice } = client;
    const { pending, token } = await ledger.update((file) => taskEntry(file, notice.digest));
    if (token !== undefined)
        return;
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
export async function obtainToken(client, address, enrolmentToken) {
    if (enrolmentToken === undefined)
        throw new AccessError("this task asks enrolled devices only, and this device has no token");
    const blinded = base64url(await blindedToken(client));
    const path = [client.notice.name, "tokens"];
    const content = await exchange(address, path, { token: enrolmentToken, blinded });
    const signature = answered("blind_signature", content.blind_signature ?? null, MODULUS_BYTES);
    await finishToken(client, signature);
}
function issuerKey({ collection }) {
    return readIssuerKey(fromBase64url("issuer", collection?.issuer, ISSUER_KEY_BYTES));
}
function readPending(notice, kept) {
    const bytes = unhex(kept);
    return {
        key: issuerKey(notice),
        digest: notice.fingerprint,
        nonce: bytes.slice(0, NONCE_BYTES),
        salt: bytes.slice(NONCE_BYTES, NONCE_BYTES + SALT_BYTES),
        factor: bytes.slice(NONCE_BYTES + SALT_BYTES),
    };
}
