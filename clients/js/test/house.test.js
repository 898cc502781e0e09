import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import * as hashing from "../dist/maths/hashing.js";
import { packBits } from "../dist/core/packing.js";
import { multiplyHigh, Rng, SystemRng } from "../dist/core/rng.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path) => readFileSync(path, "utf8");
const sources = readdirSync(join(ROOT, "src"), { recursive: true }).filter((name) => name.endsWith(".ts"));

/** The files that an entry point loads: at once, or with those that it may load later. */
function loaded(entry, { later }) {
  const found = new Map();
  const visit = (path) => {
    if (found.has(path)) return;
    found.set(path, read(path));
    const imports = later ? /(?:from|import\()\s*"(\.[^"]+)"/g : /from\s*"(\.[^"]+)"/g;
    for (const [, name] of found.get(path).matchAll(imports)) visit(resolve(dirname(path), name));
  };
  visit(join(ROOT, "dist", entry));
  return found;
}

const zipped = (files) => gzipSync([...files.values()].join("\n"), { level: 9 }).length;

test("the core is at most 10 kB when zipped, before the kinds that a task names", (t) => {
  const core = loaded("index.js", { later: false });
  const whole = loaded("index.js", { later: true });
  t.diagnostic(
    `core: ${zipped(core)} bytes in ${core.size} files; with every kind: ${zipped(whole)} bytes in ${whole.size} files`,
  );
  for (const entry of ["browser.js", "node.js"])
    t.diagnostic(`${entry}: ${zipped(loaded(entry, { later: false }))} bytes at once`);
  assert.ok(zipped(core) <= 10_000);
  const kinds = /\b(mechanisms|encodings|domains|families)\/(?!base\.js$)/;
  const early = [...core.keys()].map((path) => relative(ROOT, path)).filter((path) => kinds.test(path));
  assert.deepEqual(early, []);
});

test("core and browser use nothing of Node", () => {
  for (const entry of ["index.js", "browser.js"]) {
    for (const [path, text] of loaded(entry, { later: true })) {
      assert.doesNotMatch(text, /node:|\brequire\(|\bprocess\b|\bBuffer\b/, path);
    }
  }
});

test("randomness is the system's and nobody else's", () => {
  for (const name of sources)
    assert.doesNotMatch(read(join(ROOT, "src", name)), /Math\.random|Date\.now\(\)\s*%/, name);
  const drawing = sources.filter((name) => /getRandomValues/.test(read(join(ROOT, "src", name))));
  assert.deepEqual(drawing, ["core/rng.ts"]);
  assert.ok(!sources.some((name) => /Recorded|Seeded?Rng/.test(read(join(ROOT, "src", name)))));
  const words = new Set(
    Array.from(
      { length: 5000 },
      (
        (random) => () =>
          random.word()
      )(new SystemRng()),
    ),
  );
  assert.ok(words.size > 4990, "more than one pool of words, nearly all of them different");
});

test("no draw and no hash of a word needs a big integer", () => {
  const { bernoulli, integer, tryInteger } = Rng.prototype;
  const { word } = SystemRng.prototype;
  const hot = { bernoulli, integer, tryInteger, word, multiplyHigh, packBits };
  const { xxh32, mix, masks, affineHash } = hashing;
  for (const [name, work] of Object.entries({ ...hot, xxh32, mix, masks, affineHash })) {
    assert.doesNotMatch(work.toString(), /BigInt|\b\d+n\b/, name);
  }
});

test("without cryptographic randomness nothing works", () => {
  const kept = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    assert.throws(() => new SystemRng(), { name: "MissingExtraError" });
  } finally {
    Object.defineProperty(globalThis, "crypto", kept);
  }
});

test("the package says what it exports, depends on nothing and names no host", () => {
  const { exports, dependencies, type, sideEffects } = JSON.parse(read(join(ROOT, "package.json")));
  assert.deepEqual([type, sideEffects, dependencies], ["module", false, undefined]);
  assert.deepEqual(Object.keys(exports), [".", "./browser", "./node"]);
  for (const entry of Object.values(exports)) {
    assert.deepEqual(Object.keys(entry), ["types", "default"]);
    for (const path of Object.values(entry)) assert.ok(existsSync(join(ROOT, path)), path);
  }
  assert.doesNotMatch(read(join(ROOT, "package-lock.json")), /resolved|https?:/);
});

test("every source is built, and nothing else is", () => {
  const built = readdirSync(join(ROOT, "dist"), { recursive: true }).filter((name) => name.endsWith(".js"));
  assert.deepEqual(built.sort(), sources.map((name) => name.replace(/ts$/, "js")).sort());
});
