import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { hex } from "../dist/bytes.js";
import { newKeyPair, readKeyPair } from "../dist/wire/hpke.js";
import { verifyStatement } from "../dist/wire/round_keys.js";
import { openLayer, seal, sealedBytes } from "../dist/wire/seal.js";
import * as tokens from "../dist/wire/tokens.js";

const GOLDEN = new URL("../../../tests/golden/tokens.json", import.meta.url);
const ISSUER = Buffer.from(JSON.parse(readFileSync(GOLDEN)).keys[0].key, "hex");
const CONTEXT = { digest: new Uint8Array(32).fill(7), round: 3, hops: 1, messageBytes: 54 };
const MESSAGE = new Uint8Array(54).fill(9);
const PRIVATE_KEYS = [1, 2].map((fill) => new Uint8Array(32).fill(fill));
const publicKeys = Promise.all(
  PRIVATE_KEYS.map(async (key) => {
    const { publicKey } = await readKeyPair(key);
    return new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  }),
);

test("every seal is new, and opens layer by layer", async () => {
  const keys = await publicKeys;
  const sealed = await Promise.all([1, 2, 3].map(() => seal(MESSAGE, keys, CONTEXT)));
  assert.equal(new Set(sealed.map(hex)).size, 3);
  for (const message of sealed) {
    assert.equal(message.length, sealedBytes(CONTEXT, 0));
    const inner = await openLayer(message, PRIVATE_KEYS[0], CONTEXT, 0);
    assert.equal(inner.length, sealedBytes(CONTEXT, 1));
    assert.deepEqual(await openLayer(inner, PRIVATE_KEYS[1], CONTEXT, 1), MESSAGE);
  }
});

test("a setting that is not allowed is named", async () => {
  const keys = await publicKeys;
  const attempts = {
    digest: () => seal(MESSAGE, keys, { ...CONTEXT, digest: new Uint8Array(16) }),
    round: () => seal(MESSAGE, keys, { ...CONTEXT, round: 65536 }),
    hops: () => seal(MESSAGE, keys, { ...CONTEXT, hops: 9 }),
    messageBytes: () => seal(MESSAGE, keys, { ...CONTEXT, messageBytes: 0 }),
    message: () => seal(MESSAGE.slice(1), keys, CONTEXT),
    keys: () => seal(MESSAGE, keys.slice(1), CONTEXT),
    "keys\\[1\\]": () => seal(MESSAGE, [keys[0], keys[1].slice(1)], CONTEXT),
    hop: () => openLayer(MESSAGE, PRIVATE_KEYS[0], CONTEXT, 2),
    privateKey: () => openLayer(MESSAGE, new Uint8Array(31), CONTEXT, 0),
  };
  for (const [name, attempt] of Object.entries(attempts))
    await assert.rejects(attempt, { name: "ParameterError", message: new RegExp(`\`${name}\``) });
});

test("a key of a round that nobody can read is drawn", async () => {
  const { privateKey } = await newKeyPair();
  assert.equal(privateKey.extractable, false);
});

test("every token is new", async () => {
  const key = tokens.readIssuerKey(new Uint8Array(ISSUER));
  const pending = [1, 2, 3].map(() => tokens.blind(key, CONTEXT.digest));
  for (const field of ["nonce", "salt", "factor"])
    assert.equal(new Set(pending.map((token) => hex(token[field]))).size, 3);
  const [blinded, again] = [pending[0], pending[0]].map(tokens.blindedBytes);
  assert.equal(hex(await blinded), hex(await again));
});

test("a modulus with a small factor is refused when it would let something through", async () => {
  const data = new Uint8Array(ISSUER);
  data.fill(0xff, -261, -5); // 2^2048 - 1 is a product of 3, 5, 17, 257 and larger primes
  const key = tokens.readIssuerKey(data);
  const attempts = Array.from({ length: 40 }, () => tokens.blind(key, CONTEXT.digest));
  const results = await Promise.allSettled(attempts.map(tokens.blindedBytes));
  const refused = results.filter(({ reason }) => reason?.name === "ParameterError");
  // Message and factor both avoid these primes with probability 1/4: 30 of 40, sigma 2.7.
  assert.ok(refused.length >= 16, `${refused.length} of 40`);
});

test("what draws takes no randomness, and the package exports none of the construction", () => {
  assert.equal(seal.length, 3);
  assert.equal(tokens.blind.length, 2);
  const root = fileURLToPath(new URL("..", import.meta.url));
  for (const entry of ["index", "browser", "node"])
    assert.doesNotMatch(readFileSync(`${root}dist/${entry}.js`, "utf8"), /hpke|blind_rsa/);
});

test("without the platform's cryptography nothing is sealed", async () => {
  const original = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  const keys = await publicKeys;
  const insecure = { getRandomValues: crypto.getRandomValues.bind(crypto) };
  Object.defineProperty(globalThis, "crypto", { value: insecure, configurable: true });
  try {
    const statement = { digest: CONTEXT.digest, round: 0, hop: 0, publicKey: keys[0] };
    const missing = { name: "MissingExtraError" };
    await assert.rejects(() => seal(MESSAGE, keys, CONTEXT), missing);
    await assert.rejects(() => verifyStatement(statement, new Uint8Array(64), keys[0]), missing);
    const pending = tokens.blind(tokens.readIssuerKey(new Uint8Array(ISSUER)), CONTEXT.digest);
    await assert.rejects(() => tokens.blindedBytes(pending), missing);
  } finally {
    Object.defineProperty(globalThis, "crypto", original);
  }
});

test("what sealing adds to the core is small", (t) => {
  const zipped = (...names) => {
    const read = (name) => readFileSync(new URL(`../dist/wire/${name}.js`, import.meta.url));
    return gzipSync(Buffer.concat(names.map(read)), { level: 9 }).length;
  };
  const onion = zipped("web_crypto", "hpke", "seal", "round_keys");
  const all = zipped("web_crypto", "hpke", "seal", "round_keys", "blind_rsa", "tokens");
  t.diagnostic(`onion and round keys: ${onion} bytes; with tokens: ${all} bytes`);
  assert.ok(onion <= 2_500);
  assert.ok(all <= 5_000);
});
