import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { packBits } from "../dist/core/packing.js";
import { multiplyHigh, Rng, SystemRng } from "../dist/core/rng.js";
import { affineHash, masks, mix, xxh32 } from "../dist/maths/hashing.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUNDLE = "sottovoce.min.js";
const MAX_CORE = 12_000; // bytes
const MAX_COLUMNS = 100;
const read = (path) => readFileSync(path, "utf8");
const readSource = (name) => read(join(ROOT, "src", name));
const filesIn = (folder, extension) =>
  readdirSync(join(ROOT, folder), { recursive: true }).filter((name) => name.endsWith(extension));
const sources = filesIn("src", ".ts");

/** Returns the files that an entry point loads at once, or with those that it may load later. */
function loadedFiles(entry, { later }) {
  const imports = later ? /(?:from|import\()\s*"(\.[^"]+)"/g : /from\s*"(\.[^"]+)"/g;
  const files = new Map();
  const visit = (path) => {
    if (files.has(path)) return;
    files.set(path, read(path));
    for (const [, name] of files.get(path).matchAll(imports)) visit(resolve(dirname(path), name));
  };
  visit(join(ROOT, "dist", entry));
  return files;
}

function zippedSize(files) {
  return gzipSync([...files.values()].join("\n"), { level: 9 }).length;
}

test("the core is at most 12 kB zipped, without the kinds that a task names", (t) => {
  const core = loadedFiles("index.js", { later: false });
  const all = loadedFiles("index.js", { later: true });
  t.diagnostic(`core: ${zippedSize(core)} bytes in ${core.size} files`);
  t.diagnostic(`with every kind: ${zippedSize(all)} bytes in ${all.size} files`);
  for (const entry of ["browser.js", "node.js"])
    t.diagnostic(`${entry}: ${zippedSize(loadedFiles(entry, { later: false }))} bytes at once`);
  assert.ok(zippedSize(core) <= MAX_CORE);
  const kinds = /\b(mechanisms|encodings|domains|families)\/(?!base\.js$)/;
  const paths = [...core.keys()].map((path) => relative(ROOT, path));
  const early = paths.filter((path) => kinds.test(path));
  assert.deepEqual(early, []);
});

test("core and browser use nothing of Node", () => {
  for (const entry of ["index.js", "browser.js"])
    for (const [path, text] of loadedFiles(entry, { later: true }))
      assert.doesNotMatch(text, /node:|\brequire\(|\bprocess\b|\bBuffer\b/, path);
});

test("randomness comes from the system alone", () => {
  for (const name of sources) {
    assert.doesNotMatch(readSource(name), /Math\.random|Date\.now\(\)\s*%/, name);
    assert.doesNotMatch(readSource(name), /Recorded|[Ss]eeded?Rng/, name);
  }
  const drawing = sources.filter((name) => /getRandomValues/.test(readSource(name)));
  assert.deepEqual(drawing, ["core/rng.ts"]);
  const rng = new SystemRng();
  const words = new Set(Array.from({ length: 5000 }, () => rng.word()));
  assert.ok(words.size > 4990, "nearly all words of several pools are different");
});

test("no draw and no hash of a word needs a big integer", () => {
  const { bernoulli, integer, tryInteger } = Rng.prototype;
  const { word } = SystemRng.prototype;
  const draws = { bernoulli, integer, tryInteger, word, multiplyHigh, packBits };
  const hashes = { xxh32, mix, masks, affineHash };
  for (const [name, work] of Object.entries({ ...draws, ...hashes }))
    assert.doesNotMatch(work.toString(), /BigInt|\b\d+n\b/, name);
});

test("without cryptographic randomness nothing works", () => {
  const original = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    assert.throws(() => new SystemRng(), { name: "MissingExtraError" });
  } finally {
    Object.defineProperty(globalThis, "crypto", original);
  }
});

test("the package says what it exports, depends on nothing and names no host", () => {
  const { exports, dependencies, type, sideEffects } = JSON.parse(read(join(ROOT, "package.json")));
  assert.deepEqual([type, sideEffects, dependencies], ["module", false, undefined]);
  assert.deepEqual(Object.keys(exports), [".", "./browser", "./node", "./min"]);
  for (const entry of Object.values(exports)) {
    assert.deepEqual(Object.keys(entry), ["types", "default"]);
    for (const path of Object.values(entry)) assert.ok(existsSync(join(ROOT, path)), path);
  }
  assert.doesNotMatch(read(join(ROOT, "package-lock.json")), /resolved|https?:/);
});

test("every source is built, and nothing else is but the one file that joins them", () => {
  const expected = sources.map((name) => name.replace(/ts$/, "js"));
  assert.deepEqual(filesIn("dist", ".js").sort(), [...expected, BUNDLE].sort());
});

test("no line is longer than 100 columns", () => {
  const generated = /^src\/(wire\/statement_texts\/|core\/hidden_characters\.ts$)/;
  const folders = { src: ".ts", support: ".js", test: ".js", scripts: ".js" };
  const paths = Object.entries(folders).flatMap(([folder, extension]) =>
    filesIn(folder, extension).map((name) => join(folder, name)),
  );
  const isTooLong = (line) => [...line].length > MAX_COLUMNS;
  const hasLongLine = (path) => read(join(ROOT, path)).split("\n").some(isTooLong);
  const isWritten = (path) => !generated.test(path);
  const long = paths.filter((path) => isWritten(path) && hasLongLine(path));
  assert.deepEqual(long, []);
});
