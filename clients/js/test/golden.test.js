import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";

import { FileLedger } from "../dist/node.js";
import { runGolden } from "../support/golden.js";

let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), "sottovoce-"))));
after(() => rm(folder, { recursive: true }));

const read = async (file) => JSON.parse(await readFile(new URL(`../../../tests/golden/${file}.json`, import.meta.url)));

test("every golden row that a client needs holds", async (t) => {
  const { rows, failures } = await runGolden(read, (name, options) => new FileLedger(join(folder, name), options));
  assert.deepEqual(failures, []);
  for (const [section, count] of Object.entries(rows)) t.diagnostic(`${section}: ${count} rows`);
});

test("a changed row, a new section and a missing one are noticed", async () => {
  const changed = async (file) => {
    const content = Object.fromEntries(
      Object.entries(await read(file)).map(([name, rows]) => [name, rows.slice?.(0, 8)]),
    );
    if (file === "hash") content.xxh32[7].hash ^= 1;
    if (file === "discovery") content.encodings[3].index ^= 1;
    if (file === "marginals") content.picks[2].member ^= 1;
    if (file === "memo") content.novel = [{}];
    if (file === "tables") {
      content.indices[1].held[0][1].public = content.indices[1].held[0][1].public.replace("0.25", "0.250");
      content.cells[1].rows[2].index = String(BigInt(content.cells[1].rows[2].index) ^ 1n);
      content.malformed[3].accepted.push(content.malformed[3].refused[0]);
      content.layers[5].members.push(content.layers[5].members.shift());
      content.layers[5].members[3][1].widths[0] += 1000;
      content.messages[3].answers[0].message += "00";
    }
    if (file === "choice") delete content.picks;
    if (file === "ledger") content.scripts[0].events[2].accepted = true;
    return content;
  };
  const { failures } = await runGolden(
    changed,
    (name, options) => new FileLedger(join(folder, `twin.${name}`), options),
  );
  const found = failures.map((failure) => failure.split(/[: ]/)[0]);
  const noticed = [
    ...["choice.picks", "discovery.encodings[3]", "hash.xxh32[7]", "ledger.scripts[0]", "marginals.picks[2]"],
    ...["memo.novel", "tables.cells[1]", "tables.indices[1]", "tables.layers[5]", "tables.malformed[3]"],
    "tables.messages[3]",
  ];
  assert.deepEqual(found.sort(), noticed);
});
