import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { runChanged } from "../support/hostile.js";

const SCRIPT = fileURLToPath(new URL("../support/hostile.js", import.meta.url));
const SEED = 20_261;
const COUNT = Number(process.env.HOSTILE_DOCUMENTS ?? 2500); // more of them: make papers
const RUNS = 1; // of a document: times are not asserted
const MAX_EXTRA = 16; // megabytes beside what an idle process holds
const HEAP = 22; // megabytes that the process may use: if it needs more, it dies

/** Returns what the script prints; `flags` are those of the process. */
async function run(count, flags = []) {
  const parameters = [...flags, SCRIPT, count, SEED, RUNS].map(String);
  return JSON.parse((await promisify(execFile)(process.execPath, parameters)).stdout);
}

// How long they take is printed by `node support/hostile.js 100000 7`, and asserted nowhere: it
// depends on what else the machine does.
test("hostile documents are answered or refused on purpose", async (t) => {
  const { slow, changed } = await run(COUNT);
  t.diagnostic(JSON.stringify(changed.outcomes));
  assert.deepEqual(changed.untyped, []);
  assert.ok(changed.outcomes.answered > COUNT / 20, "some documents are still good");
  for (const name of ["CodecError", "ParameterError", "MismatchError"])
    assert.ok(changed.outcomes[name] > COUNT / 200, name);
  for (const [name, { outcome, milliseconds }] of Object.entries(slow)) {
    t.diagnostic(`${name}: ${outcome}, ${milliseconds.toFixed(1)} ms`);
    assert.match(outcome, /^(answered|CodecError|ParameterError)$/, name);
  }
});

test("hostile documents take little memory", async (t) => {
  const flags = [`--max-old-space-size=${HEAP}`, "--max-semi-space-size=1", "--expose-gc"];
  const { idle, changed } = await run(2000, flags);
  const extra = HEAP - idle / 2 ** 20;
  t.diagnostic(`${extra.toFixed(1)} MB were enough`);
  assert.ok(extra <= MAX_EXTRA, `${extra} MB`);
  assert.deepEqual(changed.untyped, []);
});

test("a reader that trusts a document would be noticed", async () => {
  const trust = async (text) => {
    const { opening } = JSON.parse(text);
    return { explain: () => opening.ask.kind.length, answer: () => opening.low.toFixed() };
  };
  const { untyped } = await runChanged(500, SEED, trust);
  assert.ok(untyped.length > 10);
});
