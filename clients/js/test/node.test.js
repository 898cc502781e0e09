import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import test, { afterEach, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { BudgetError, Client, FileLedger } from "../dist/node.js";
import { browserTask } from "../support/tasks.js";

const SPENDER = fileURLToPath(new URL("../support/spender.js", import.meta.url));
const run = promisify(execFile);
let folder, path;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  path = join(folder, "ledger.json");
});
afterEach(() => rm(folder, { recursive: true }));

test("two processes spend one budget: every task once, and no more than the cap", async () => {
  const names = Array.from({ length: 14 }, (_, i) => `task ${i}`);
  const spenders = await Promise.all(
    [names, [...names].reverse()].map((order) => run(process.execPath, [SPENDER, path, ...order])),
  );
  const sent = spenders.flatMap(({ stdout }) => stdout.split("\n").filter(Boolean));
  const ledger = new FileLedger(path);
  assert.deepEqual(await ledger.spent(), { spent: 10, cap: 10 });
  assert.equal(sent.length, 10);
  assert.equal(new Set((await ledger.entries()).map((charge) => charge.task)).size, 10);
  assert.deepEqual(await readdir(folder), ["ledger.json"], "no lock and no draft is left");
});

test("without the lock two that read before either writes would overspend", async () => {
  let first;
  const bothHaveRead = () =>
    new Promise((done) => {
      if (!first) return void (first = done);
      first();
      first = undefined;
      done();
    });
  class Careless extends FileLedger {
    async exchange(work) {
      const stored = await readFile(path, "utf8").catch(() => undefined);
      await bothHaveRead();
      const [file, result] = work(stored && JSON.parse(stored));
      writeFileSync(path, JSON.stringify(file));
      return result;
    }
  }
  const both = await Promise.all([0, 1].map(async () => Client.open(await browserTask(), new Careless(path))));
  const sent = await Promise.all(both.map((client) => client.answer("firefox")));
  assert.notDeepEqual(sent[0], sent[1]);
});

test("what was answered is remembered by the next process", async () => {
  const first = await (await Client.open(await browserTask(), new FileLedger(path))).answer("firefox");
  const again = await Client.open(await browserTask(), new FileLedger(path));
  await assert.rejects(again.answer("safari"), BudgetError);
  assert.deepEqual(await again.resend(), first);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a process that is killed has charged for every message it let go", async () => {
  const ledger = new FileLedger(path, { cap: 1000 });
  await ledger.spent();
  const names = Array.from({ length: 500 }, (_, i) => `task ${i}`);
  const child = spawn(process.execPath, [SPENDER, path, ...names]);
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
    if (printed.length > 1000) child.kill("SIGKILL"); // in the middle of something
  });
  await new Promise((done) => child.on("close", done));
  const sent = printed.split("\n").filter((line) => line.length === 90);
  const { tasks, charges } = await ledger.update((file) => file);
  const kept = Object.values(tasks).flatMap((entry) => Object.values(entry.messages));
  assert.ok(sent.length > 5 && sent.length < 500, String(sent.length));
  assert.deepEqual(
    sent.filter((message) => !kept.includes(message)),
    [],
  );
  assert.equal(charges.length, kept.length, "a charge and its message are written together");
});

test("the lock of a dead process is removed, that of a living one is respected", async () => {
  const child = spawn(process.execPath, ["-e", ""]);
  await new Promise((done) => child.on("exit", done));
  await writeFile(`${path}.lock`, `${child.pid}@${hostname()}`);
  const ledger = new FileLedger(path);
  assert.equal((await ledger.spent()).spent, 0);
  await writeFile(`${path}.lock`, `${process.pid}@${hostname()}`);
  let open = false;
  const waiting = ledger.spent().then(() => assert.ok(open));
  await new Promise((done) => setTimeout(done, 30));
  open = true;
  await rm(`${path}.lock`);
  await waiting;
});

test("a spoiled ledger refuses to answer", async () => {
  await writeFile(path, "{");
  await assert.rejects((await Client.open(await browserTask(), new FileLedger(path))).answer("firefox"), BudgetError);
  await writeFile(path, '{"version":2}');
  await assert.rejects(new FileLedger(path).spent(), BudgetError);
});
