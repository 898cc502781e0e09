import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";

import { FileLedger } from "../dist/node.js";
import { runGolden } from "../support/golden.js";

const GOLDEN = new URL("../../../tests/golden/", import.meta.url);
let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), "sottovoce-"))));
after(() => rm(folder, { recursive: true }));

async function read(file) {
  return JSON.parse(await readFile(new URL(`${file}.json`, GOLDEN)));
}

test("every golden row that a client needs holds", async (t) => {
  const openLedger = (name, options) => new FileLedger(join(folder, name), options);
  const { rows, failures } = await runGolden(read, openLedger);
  assert.deepEqual(failures, []);
  for (const [section, count] of Object.entries(rows)) t.diagnostic(`${section}: ${count} rows`);
});

/** One change for each file; each must be noticed. */
const CHANGES = {
  choice: (content) => delete content.picks,
  discovery: ({ encodings }) => (encodings[3].index ^= 1),
  hash: ({ xxh32 }) => (xxh32[7].hash ^= 1),
  key_set({ signed, refused }) {
    signed[1].round_document += " ";
    refused[1].error = null;
    refused[0].error = "MismatchError";
  },
  ledger: ({ scripts }) => (scripts[0].events[2].accepted = true),
  marginals: ({ picks }) => (picks[2].member ^= 1),
  memo: (content) => (content.novel = [{}]),
  rfc: ({ tokens }) => (tokens[1].salt = tokens[0].salt),
  seal({ messages, refused, weak_keys: weakKeys, statements, unsigned }) {
    messages[2].layers[0] = messages[3].layers[0];
    refused[1].error = null;
    weakKeys[0].public_key = messages[0].public_keys[0];
    statements[1].hop ^= 1;
    unsigned[3].error = null;
  },
  seeds({ reports, tasks, refused, messages }) {
    reports[2].seed_draw = reports[1].seed_draw;
    tasks[1].digest = tasks[0].digest;
    refused[1].text = tasks[1].canonical;
    messages[3].token = messages[2].token;
  },
  shuffled({ tasks, sealed, refused }) {
    tasks[1].sentences[1] = tasks[0].sentences[1];
    sealed[1].set_signatures.reverse();
    refused[0].text = tasks[0].canonical;
  },
  tables({ indices, cells, malformed, layers, messages }) {
    const [, index] = indices[1].held[0];
    index.public = index.public.replace("0.25", "0.250");
    const row = cells[1].rows[2];
    row.index = String(BigInt(row.index) ^ 1n);
    malformed[3].accepted.push(malformed[3].refused[0]);
    layers[5].members.push(layers[5].members.shift());
    layers[5].members[3][1].widths[0] += 1000;
    messages[3].answers[0].message += "00";
  },
  tokens({ issued, derived, refused, answers, keys }) {
    issued[2].salt = issued[3].salt;
    derived[4].seed_draw = derived[0].seed_draw;
    refused[1].error = null;
    answers[0].error = "CodecError";
    keys[1].accepted = true;
  },
};
const NOTICED = [
  "choice.picks",
  "discovery.encodings[3]",
  "hash.xxh32[7]",
  "key_set.refused[0]",
  "key_set.refused[1]",
  "key_set.signed[1]",
  "ledger.scripts[0]",
  "marginals.picks[2]",
  "memo.novel",
  "rfc.tokens[1]",
  "seal.messages[2]",
  "seal.refused[1]",
  "seal.statements[1]",
  "seal.unsigned[3]",
  "seal.weak_keys[0]",
  "seeds.messages[3]",
  "seeds.refused[0]",
  "seeds.reports[2]",
  "seeds.tasks[1]",
  "shuffled.refused[0]",
  "shuffled.sealed[1]",
  "shuffled.tasks[1]",
  "tables.cells[1]",
  "tables.indices[1]",
  "tables.layers[5]",
  "tables.malformed[3]",
  "tables.messages[3]",
  "tokens.answers[0]",
  "tokens.derived[4]",
  "tokens.issued[2]",
  "tokens.keys[1]",
  "tokens.refused[1]",
];

test("a changed row, a new section and a missing section are noticed", async () => {
  const readChanged = async (file) => {
    const sections = Object.entries(await read(file));
    const content = Object.fromEntries(sections.map(([name, rows]) => [name, rows.slice?.(0, 8)]));
    CHANGES[file]?.(content);
    return content;
  };
  const openLedger = (name, options) => new FileLedger(join(folder, `changed.${name}`), options);
  const { failures } = await runGolden(readChanged, openLedger);
  const names = failures.map((failure) => failure.split(/[: ]/)[0]);
  assert.deepEqual(names.sort(), NOTICED);
});
