// The one file for pages, and the package that it is part of.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { canonical } from "../dist/wire/codec.js";
import { goldenTasks } from "../support/hostile.js";
import { browserTask } from "../support/tasks.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BUNDLE = "sottovoce.min.js";
const read = (path) => readFileSync(path, "utf8");

test("the one file loads nothing, exports what browser.js exports, and has its hash", async (t) => {
  const text = read(join(ROOT, "dist", BUNDLE));
  t.diagnostic(`${BUNDLE}: ${gzipSync(text, { level: 9 }).length} bytes zipped`);
  assert.doesNotMatch(text, /\bimport\b|node:|\brequire\(|\bprocess\b|\bBuffer\b/);
  const joined = await import(`../dist/${BUNDLE}`);
  const apart = await import("../dist/browser.js");
  assert.deepEqual(Object.keys(joined), Object.keys(apart));
  const hash = createHash("sha384").update(text).digest("base64");
  const stated = JSON.parse(read(join(ROOT, "dist", "integrity.json")));
  assert.deepEqual(stated, { [BUNDLE]: `sha384-${hash}` });
});

test("the one file opens every golden task, answers, and explains in every language", async () => {
  const { Client, LANGUAGES, MemoryLedger } = await import(`../dist/${BUNDLE}`);
  for (const document of await goldenTasks()) {
    const client = await Client.open(canonical(document), new MemoryLedger());
    assert.match(await client.explain(client.notice.opening, "it"), /Il raccoglitore/);
  }
  const client = await Client.open(await browserTask(), new MemoryLedger());
  assert.ok((await client.answer("firefox")) instanceof Uint8Array);
  const texts = LANGUAGES.map((language) => client.explain(undefined, language));
  assert.equal(new Set(await Promise.all(texts)).size, LANGUAGES.length);
});

test("the package has the built files, its description, its licence and nothing else", (t) => {
  const packing = ["pack", "--dry-run", "--json", "--offline", "--ignore-scripts"];
  const { status, stdout } = spawnSync("npm", packing, { cwd: ROOT, encoding: "utf8" });
  if (status === null) return t.skip("npm is not installed");
  assert.equal(status, 0);
  const packed = JSON.parse(stdout)[0].files.map(({ path }) => path);
  const built = readdirSync(join(ROOT, "dist"), { recursive: true, withFileTypes: true });
  const files = built.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));
  assert.deepEqual(packed.sort(), [...paths, "LICENSE", "README.md", "package.json"].sort());
});
