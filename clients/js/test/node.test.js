import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import test, { afterEach, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { BudgetError, Client, Device, FileLedger } from "../dist/node.js";
import { startPair } from "../support/collector.js";
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
  const left = await readdir(folder);
  assert.deepEqual(left, ["ledger.json", "ledger.json.made"], "no lock and no draft is left");
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
  const entries = Object.values(tasks).flatMap((entry) => Object.values(entry.messages));
  const stored = entries.map((message) => message.bytes);
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

const GONE = {
  name: "BudgetError",
  message:
    "this device has had a ledger that is gone or cut, so what it has spent is not known: " +
    "nothing is sent; restore it, or remove the marker to begin anew",
};

test("a ledger that was removed or cut is noticed, and can be restored", async () => {
  await (await open()).answer("firefox");
  const whole = await readFile(path, "utf8");
  const other = async () => Client.open(await browserTask({ name: "other" }), new FileLedger(path));
  const cuts = ["", "{}", "{", whole.slice(0, whole.length / 2), whole.slice(0, -1)];
  for (const cut of cuts) {
    await writeFile(path, cut);
    await assert.rejects((await other()).answer("firefox"), GONE, cut.slice(0, 20));
    assert.equal(await readFile(path, "utf8"), cut, "nothing is overwritten");
  }
  await rm(path);
  await assert.rejects((await other()).answer("firefox"), GONE);
  await writeFile(path, whole);
  await (await other()).answer("firefox");
  assert.equal((await new FileLedger(path).spent()).spent, 2);
});

test("without its marker a ledger begins anew, or goes on", async () => {
  await writeFile(path, ""); // a ledger that was never finished
  await (await open()).answer("firefox");
  await rm(`${path}.made`);
  await assert.rejects((await open()).answer("firefox"), BudgetError, "it is still known");
  assert.ok((await stat(`${path}.made`)).size > 0, "and has its marker again");
  await rm(path);
  await rm(`${path}.made`);
  await (await open()).answer("firefox");
});

test("a broken twin without a marker would forget what was spent", async () => {
  class ForgetfulLedger extends FileLedger {
    get marker() {
      return join(folder, `no marker ${Math.random()}`);
    }
  }
  await (await open(new ForgetfulLedger(path))).answer("firefox");
  await rm(path);
  await (await open(new ForgetfulLedger(path))).answer("firefox");
});

test("a message leaves the ledger 30 days after it was acknowledged", async (t) => {
  let time = 1_000_000;
  const openLedger = () => new FileLedger(path, { clock: () => time });
  const documents = [await browserTask(), await browserTask({ name: "waiting" })];
  const { collector, device } = await startPair(t, documents, { ledger: openLedger() });
  const message = await device.answer("browser", "firefox");
  collector.mode = "down";
  await device.answer("waiting", "firefox");
  const client = async (document) => Client.open(document, openLedger());
  time += 30 * 86_400 - 1;
  assert.deepEqual(await (await client(documents[0])).resend(), message);
  time += 1;
  const erased = await client(documents[0]);
  await assert.rejects(erased.resend(), /more than 30 days ago, and this device has erased it/);
  await assert.rejects(erased.answer("firefox"), BudgetError, "it was answered for good");
  assert.ok(!(await readFile(path, "utf8")).includes(Buffer.from(message).toString("hex")));
  assert.equal((await (await client(documents[1])).resend()).length, 45, "not acknowledged");
});

test("an outage of a week: reports survive restarts, wait, and arrive once", async (t) => {
  let time = 1_000_000;
  const documents = await Promise.all(["a", "b", "c"].map((name) => browserTask({ name })));
  const first = await startPair(t, documents, {
    ledger: new FileLedger(path, { clock: () => time }),
    delay: 10,
  });
  const { collector } = first;
  for (const name of ["a", "b", "c"]) await first.device.answer(name, "firefox");
  first.device.close(); // its timer follows the true clock
  const before = await first.device.waiting();
  collector.mode = "down";
  const end = time + 7 * 86_400;
  while (time < end) {
    const ledger = new FileLedger(path, { clock: () => time }); // a new process every time
    const device = new Device(collector.url, { ledger, delay: 10 });
    assert.equal((await device.flush()).waiting, 3);
    device.close();
    time += 1800;
  }
  const reports = await first.device.waiting();
  assert.ok(reports.every(({ due }) => due <= time + 3600 + 3600));
  assert.ok(reports.some(({ attempts: count }) => count > 50));
  const messagesOf = (some) => some.map(({ message }) => message).sort();
  assert.deepEqual(messagesOf(reports), messagesOf(before), "the same bytes");
  collector.mode = "up";
  time += 86_400;
  assert.deepEqual(await first.device.flush(), { sent: 3, refused: 0, waiting: 0 });
  assert.equal(collector.posts.length, 3);
});
