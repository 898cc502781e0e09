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
const taskNames = (count) => Array.from({ length: count }, (_, i) => `task ${i}`);
let folder, path;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  path = join(folder, "ledger.json");
});
afterEach(() => rm(folder, { recursive: true }));

async function open(ledger = new FileLedger(path)) {
  return Client.open(await browserTask(), ledger);
}

test("two processes spend one budget: every task once, and no more than the cap", async () => {
  const names = taskNames(14);
  const orders = [names, [...names].reverse()];
  const spend = (order) => run(process.execPath, [SPENDER, path, ...order]);
  const runs = await Promise.all(orders.map(spend));
  const messages = runs.flatMap(({ stdout }) => stdout.split("\n").filter(Boolean));
  const ledger = new FileLedger(path);
  assert.deepEqual(await ledger.spent(), { spent: 10, cap: 10 });
  assert.equal(messages.length, 10);
  assert.equal(new Set((await ledger.entries()).map((charge) => charge.task)).size, 10);
  assert.deepEqual(await readdir(folder), ["ledger.json"], "no lock and no draft is left");
});

test("without the lock two that read before either writes would overspend", async () => {
  let release;
  const bothHaveRead = () =>
    new Promise((done) => {
      if (!release) return void (release = done);
      release();
      release = undefined;
      done();
    });
  class CarelessLedger extends FileLedger {
    async exchange(work) {
      const stored = await readFile(path, "utf8").catch(() => undefined);
      await bothHaveRead();
      const [file, result] = work(stored && JSON.parse(stored));
      writeFileSync(path, JSON.stringify(file));
      return result;
    }
  }
  const clients = await Promise.all([0, 1].map(() => open(new CarelessLedger(path))));
  const messages = await Promise.all(clients.map((client) => client.answer("firefox")));
  assert.notDeepEqual(messages[0], messages[1]);
});

test("the next process remembers what was answered", async () => {
  const message = await (await open()).answer("firefox");
  const client = await open();
  await assert.rejects(client.answer("safari"), BudgetError);
  assert.deepEqual(await client.resend(), message);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a process that is killed has charged for every message that it printed", async () => {
  const ledger = new FileLedger(path, { cap: 1000 });
  await ledger.spent();
  const child = spawn(process.execPath, [SPENDER, path, ...taskNames(500)]);
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
    if (printed.length > 1000) child.kill("SIGKILL"); // in the middle of a transaction
  });
  await new Promise((done) => child.on("close", done));
  const messages = printed.split("\n").filter((line) => line.length === 90);
  const { tasks, charges } = await ledger.update((file) => file);
  const stored = Object.values(tasks).flatMap((entry) => Object.values(entry.messages));
  assert.ok(messages.length > 5 && messages.length < 500, String(messages.length));
  const lost = messages.filter((message) => !stored.includes(message));
  assert.deepEqual(lost, []);
  assert.equal(charges.length, stored.length, "a charge and its message are written together");
});

test("a lock is respected while its process runs, and removed when it has ended", async () => {
  const child = spawn(process.execPath, ["-e", ""]);
  await new Promise((done) => child.on("exit", done));
  await writeFile(`${path}.lock`, `${child.pid}@${hostname()}`);
  const ledger = new FileLedger(path);
  assert.equal((await ledger.spent()).spent, 0);
  await writeFile(`${path}.lock`, `${process.pid}@${hostname()}`);
  let isReleased = false;
  const waiting = ledger.spent().then(() => assert.ok(isReleased));
  await new Promise((done) => setTimeout(done, 30));
  isReleased = true;
  await rm(`${path}.lock`);
  await waiting;
});

test("a damaged ledger refuses to answer", async () => {
  await writeFile(path, "{");
  await assert.rejects((await open()).answer("firefox"), BudgetError);
  await writeFile(path, '{"version":2}');
  await assert.rejects(new FileLedger(path).spent(), BudgetError);
});
