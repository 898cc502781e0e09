// The checks of golden rows about sealed messages, round keys and blind tokens.

import { concatenate, hex, unhex } from "../dist/bytes.js";
import { Client, noticeOf } from "../dist/client/client.js";
import { MemoryLedger } from "../dist/client/ledger.js";
import { Sealing } from "../dist/client/sealing.js";
import { CodecError, MismatchError, ParameterError } from "../dist/errors.js";
import { blind, bytesOf, encode, numberOf, unblind } from "../dist/wire/blind_rsa.js";
import { open, readKeyPair, sealWith } from "../dist/wire/hpke.js";
import { fingerprintOf } from "../dist/wire/codec.js";
import { keySetBytes, verifyAll } from "../dist/wire/key_set.js";
import { statementBytes, verifyStatement } from "../dist/wire/round_keys.js";
import { layerInfo, openLayer, seal, sealedBytes } from "../dist/wire/seal.js";
import {
  blindedBytes,
  coinBytesOf,
  finalize,
  readIssuerKey,
  readToken,
  seedDraw,
  tokenBytes,
  verify,
} from "../dist/wire/tokens.js";

const ERRORS = { CodecError, MismatchError, ParameterError };
const AES_GCM = "AES-GCM";

/** Returns the checks by section; `same` and `refuses` are those of the other checks. */
export function sealingChecks({ same, refuses }) {
  const sameBytes = (bytes, text) => same(hex(bytes), text);

  /** Checks that some work ends as the row says: with its error, or without one. */
  const ends = (row, work) => (row.error ? refuses(work, ERRORS[row.error]) : work());

  async function checkSealed(row) {
    const { hops, round } = row;
    const message = unhex(row.message);
    const context = { digest: unhex(row.digest), round, hops, messageBytes: message.length };
    const layers = [...row.layers, row.message];
    for (let hop = hops; hop >= 0; hop--) {
      const ephemeral = await readKeyPair(unhex(row.ephemeral_keys[hop]));
      const publicKey = unhex(row.public_keys[hop]);
      const info = layerInfo(context, hop);
      sameBytes(await sealWith(ephemeral, publicKey, info, unhex(layers[hop + 1])), layers[hop]);
      const privateKey = unhex(row.private_keys[hop]);
      sameBytes(await openLayer(unhex(layers[hop]), privateKey, context, hop), layers[hop + 1]);
      same(sealedBytes(context, hop), layers[hop].length / 2);
    }
    let sealed = await seal(message, row.public_keys.map(unhex), context);
    same([sealed.length, hex(sealed) === layers[0]], [layers[0].length / 2, false]);
    for (const [hop, key] of row.private_keys.entries())
      sealed = await openLayer(sealed, unhex(key), context, hop);
    sameBytes(sealed, row.message);
  }

  function checkUnopened(row) {
    const { round, hops, hop, message_bytes: messageBytes } = row;
    const context = { digest: unhex(row.digest), round, hops, messageBytes };
    return ends(row, () => openLayer(unhex(row.sealed), unhex(row.private_key), context, hop));
  }

  function checkWeakKey(row) {
    const context = { digest: new Uint8Array(32), round: 0, hops: 0, messageBytes: 1 };
    const work = () => seal(Uint8Array.of(1), [unhex(row.public_key)], context);
    return refuses(work, ParameterError);
  }

  const statementOf = ({ digest, round, hop, public_key: publicKey }) =>
    ({ digest: unhex(digest), round, hop, publicKey: unhex(publicKey) });

  async function checkStatement(row) {
    const statement = statementOf(row);
    sameBytes(statementBytes(statement), row.signed);
    await verifyStatement(statement, unhex(row.signature), unhex(row.verifying_key));
  }

  function checkUnsigned(row) {
    const [signature, key] = [row.signature, row.verifying_key].map(unhex);
    return ends(row, () => verifyStatement(statementOf(row), signature, key));
  }

  const keySetOf = ({ digest, round, round_hash: roundHash, public_keys: publicKeys }) =>
    ({
      digest: unhex(digest),
      round,
      roundHash: unhex(roundHash),
      publicKeys: publicKeys.map(unhex),
    });

  const verifySet = (row) =>
    verifyAll(keySetOf(row), row.signatures.map(unhex), row.verifying_keys.map(unhex));

  async function checkSignedSet(row) {
    sameBytes(fingerprintOf(row.round_document), row.round_hash);
    const keySet = keySetOf(row);
    for (const [hop, signed] of row.signed.entries()) sameBytes(keySetBytes(keySet, hop), signed);
    await verifySet(row);
  }

  const checkRefusedSet = (row) => ends(row, () => verifySet(row));

  async function checkShuffledTask(row) {
    const client = await Client.open(row.canonical, new MemoryLedger());
    same(client.notice.digest, row.digest);
    sameBytes(client.notice.fingerprint, row.fingerprint);
    same((await client.explain()).includes(row.sentences.join(" ")), true);
  }

  const checkRefusedShuffle = ({ text }) =>
    refuses(() => noticeOf(text), CodecError, ParameterError);

  async function checkSealedAnswer(row) {
    const notice = await noticeOf(row.text);
    const keys = row.keys.map(({ public_key: publicKey, signature }) => {
      return { publicKey: unhex(publicKey), signature: unhex(signature) };
    });
    const setSignatures = row.set_signatures.map(unhex);
    const sealing = await Sealing.open(notice, notice.opening, { keys, setSignatures });
    let sealed = await sealing.seal(unhex(row.envelopes), unhex(row.token));
    const hops = row.keys.length - 1;
    const { fingerprint: digest } = notice;
    const context = { digest, round: 0, hops, messageBytes: row.message.length / 2 };
    for (const [hop, key] of row.private_keys.entries()) {
      same(sealed.length, row.sealed_bytes[hop]);
      sealed = await openLayer(sealed, unhex(key), context, hop);
    }
    sameBytes(sealed, row.message);
  }

  const pendingToken = (row) => ({
    key: readIssuerKey(unhex(row.key)),
    digest: unhex(row.digest),
    nonce: unhex(row.nonce),
    salt: unhex(row.salt),
    factor: unhex(row.factor),
  });

  async function checkIssued(row) {
    const pending = pendingToken(row);
    sameBytes(await blindedBytes(pending), row.blinded);
    const token = await finalize(pending, unhex(row.blind_signature));
    sameBytes(tokenBytes(token), row.token);
    await verify(readToken(unhex(row.token)), pending.key, pending.digest);
    checkDerived({ ...row, signature: row.token.slice(64) });
  }

  function checkDerived(row) {
    const token = { nonce: new Uint8Array(32), signature: unhex(row.signature) };
    same(seedDraw(token, unhex(row.digest), row.slot), row.seed_draw);
    sameBytes(coinBytesOf(token, unhex(row.digest)), row.coin_bytes);
  }

  function checkRefusedToken(row) {
    const key = readIssuerKey(unhex(row.key));
    const digest = unhex(row.digest);
    return ends(row, async () => verify(readToken(unhex(row.token)), key, digest));
  }

  function checkBlindSignature(row) {
    return ends(row, () => finalize(pendingToken(row), unhex(row.blind_signature)));
  }

  async function checkIssuerKey(row) {
    const read = () => readIssuerKey(unhex(row.key));
    if (row.accepted) sameBytes(read().data, row.key);
    else await refuses(read, ParameterError);
  }

  /** Ours has no associated data: what it makes is compared under the published key and nonce. */
  async function checkPublishedHpke(row) {
    const [ephemeral, recipient] = await Promise.all(
      [row.ephemeral_key, row.private_key].map((key) => readKeyPair(unhex(key))),
    );
    const [info, message] = [row.info, row.message].map(unhex);
    const sealed = await sealWith(ephemeral, unhex(row.public_key), info, message);
    const key = await crypto.subtle.importKey("raw", unhex(row.key), AES_GCM, false, ["encrypt"]);
    const encrypted = async (more) => {
      const algorithm = { name: AES_GCM, iv: unhex(row.nonce), ...more };
      return new Uint8Array(await crypto.subtle.encrypt(algorithm, key, message));
    };
    sameBytes(await encrypted({ additionalData: unhex(row.associated) }), row.ciphertext);
    sameBytes(sealed, row.encapsulated_key + hex(await encrypted({})));
    sameBytes(await open(recipient, info, sealed), row.message);
  }

  async function checkPublishedEd25519(row) {
    const bytes = unhex(row.public_key);
    const key = await crypto.subtle.importKey("raw", bytes, "Ed25519", false, ["verify"]);
    const [signature, message] = [row.signature, row.message].map(unhex);
    same(await crypto.subtle.verify("Ed25519", key, signature, message), true);
  }

  async function checkPublishedBlindRsa(row) {
    const [p, q, inverse] = [row.p, row.q, row.inverse].map((text) => BigInt(`0x${text}`));
    const modulus = p * q;
    const encoded = await encode(unhex(row.message), unhex(row.salt), 4096);
    const factor = unblind(1n, inverse, modulus);
    sameBytes(bytesOf(blind(encoded, factor, modulus, 65537n), 512), row.blinded);
    const signature = unblind(BigInt(`0x${row.blind_signature}`), factor, modulus);
    sameBytes(bytesOf(signature, 512), row.signature);
  }

  async function checkPublishedToken(row) {
    const { modulus } = readIssuerKey(unhex(row.key));
    const content = row.token.slice(0, -512);
    const encoded = await encode(unhex(content), unhex(row.salt), 2048);
    const factor = numberOf(unhex(row.blind));
    const blinded = bytesOf(blind(encoded, factor, modulus, 65537n), 256);
    sameBytes(blinded, row.request.slice(6));
    const signature = unblind(numberOf(unhex(row.response)), factor, modulus);
    sameBytes(concatenate(unhex(content), bytesOf(signature, 256)), row.token);
  }

  return {
    "rfc.hpke": checkPublishedHpke,
    "rfc.ed25519": checkPublishedEd25519,
    "rfc.blind_rsa": checkPublishedBlindRsa,
    "rfc.tokens": checkPublishedToken,
    "key_set.signed": checkSignedSet,
    "key_set.refused": checkRefusedSet,
    "seal.messages": checkSealed,
    "seal.refused": checkUnopened,
    "seal.weak_keys": checkWeakKey,
    "seal.statements": checkStatement,
    "seal.unsigned": checkUnsigned,
    "shuffled.tasks": checkShuffledTask,
    "shuffled.sealed": checkSealedAnswer,
    "shuffled.refused": checkRefusedShuffle,
    "tokens.issued": checkIssued,
    "tokens.derived": checkDerived,
    "tokens.refused": checkRefusedToken,
    "tokens.answers": checkBlindSignature,
    "tokens.keys": checkIssuerKey,
  };
}
