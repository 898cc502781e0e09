import assert from "node:assert/strict";
import test, { afterEach } from "node:test";

import {
  BudgetError,
  CodecError,
  Device,
  MemoryLedger,
  MismatchError,
  ParameterError,
  StateError,
  UnavailableError,
} from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { collector } from "../support/collector.js";
import { browserTask, COLLECTION, digestOf, roundOf, whereTask } from "../support/tasks.js";

const open = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function pair(options = {}, ...documents) {
  const server = await collector(...(documents.length ? documents : [await browserTask()]));
  const ledger = options.ledger ?? new MemoryLedger({ clock: options.clock });
  const device = new Device(`${server.url}/`, { delay: 0, ...options, ledger });
  open.push(server, device);
  return { server, ledger, device };
}

const bytes = (post) => Buffer.from(post.reports[0], "base64").toString("hex");
const waiting = (ledger) => ledger.update((file) => file.outbox);

test("an answer is charged, sent once and removed from the outbox", async () => {
  const { server, ledger, device } = await pair();
  await device.answer("browser", "firefox");
  assert.equal(server.posts.length, 1);
  assert.deepEqual(Object.keys(server.posts[0]), ["reports"]);
  assert.equal(bytes(server.posts[0]).length, 90);
  assert.deepEqual(await waiting(ledger), []);
  await assert.rejects(device.answer("browser", "firefox"), BudgetError);
  assert.equal((await ledger.spent()).spent, 1);
  const header = server.requests.map(({ headers }) => Object.keys(headers)).flat();
  assert.ok(!header.includes("cookie") && !header.includes("referer"));
});

test("a message whose answer is lost is sent again with the same bytes", async () => {
  const { server, ledger, device } = await pair();
  server.mode = "cut";
  await device.answer("browser", "firefox");
  assert.equal((await waiting(ledger)).length, 1);
  server.mode = "up";
  assert.deepEqual(await device.flush(), { sent: 0, refused: 0, waiting: 1 }, "not due yet");
  assert.deepEqual(await device.flush({ force: true }), { sent: 1, refused: 0, waiting: 0 });
  assert.equal(new Set(server.posts.map(bytes)).size, 1);
  assert.deepEqual(await waiting(ledger), []);
});

test("a busy collector is given the time it asks for, and a stranger's page is no answer", async () => {
  let time = 5000;
  const { server, ledger, device } = await pair({ clock: () => time });
  server.mode = "busy";
  await device.answer("browser", "firefox");
  const [report] = await waiting(ledger);
  assert.ok(report.due >= 5000 + 7200 && report.due <= 5000 + 7200 + 60, String(report.due));
  server.mode = "stranger";
  time = report.due;
  assert.equal((await device.flush()).waiting, 1);
  server.mode = "up";
  time = 1; // a clock that was set back does not make it wait longer
  assert.equal((await device.flush()).sent, 1);
});

test("a refused message is dropped and recorded", async () => {
  const { server, ledger, device } = await pair();
  server.mode = "late";
  await device.answer("browser", "firefox");
  assert.deepEqual(await waiting(ledger), []);
  const [refused] = await ledger.refusals();
  assert.deepEqual([refused.name, refused.code], ["browser", "too-late"]);
  assert.equal((await ledger.spent()).spent, 1, "what was charged stays charged");
});

test("after eight attempts a message is given up", async () => {
  const { server, ledger, device } = await pair();
  server.mode = "down";
  await device.answer("browser", "firefox");
  for (let attempt = 2; attempt <= 7; attempt++) assert.equal((await device.flush({ force: true })).waiting, 1);
  assert.equal((await device.flush({ force: true })).refused, 1);
  assert.equal((await ledger.refusals())[0].code, "gave-up");
});

test("a collector that is out of reach is tried once, not once for every message", async () => {
  const { server, ledger, device } = await pair(
    { delay: 1000 },
    ...(await Promise.all(["a", "b", "c"].map((name) => browserTask({ name })))),
  );
  for (const name of ["a", "b", "c"]) await device.answer(name, "firefox");
  const asked = server.requests.length;
  server.mode = "down";
  assert.deepEqual(await device.flush({ force: true }), { sent: 0, refused: 0, waiting: 3 });
  assert.equal(server.requests.length, asked + 1);
  assert.deepEqual(
    (await waiting(ledger)).map((report) => report.attempts),
    [1, 0, 0],
  );
  server.mode = "up";
  assert.equal((await device.flush({ force: true })).sent, 3);
});

test("two senders do not send the same message at once", async () => {
  const { server, ledger, device } = await pair({ delay: 1000 });
  await device.answer("browser", "firefox");
  const other = new Device(server.url, { ledger, delay: 1000 });
  open.push(other);
  const found = await Promise.all([device.flush({ force: true }), other.flush({ force: true })]);
  assert.equal(found[0].sent + found[1].sent, 1);
  assert.equal(server.posts.length, 1);
});

test("a message waits a random while, by default at most a minute", async () => {
  const { ledger, device } = await pair({ delay: undefined, clock: () => 1000 });
  assert.equal(device.delay, 60);
  await device.answer("browser", "firefox");
  const [report] = await waiting(ledger);
  assert.ok(report.due > 1000 && report.due <= 1060);
  for (const delay of [-1, NaN, Infinity])
    assert.throws(() => new Device("https://collector.example", { ledger, delay }), ParameterError);
});

test("a device returns the message that it sends, and its owner can opt out", async () => {
  const { server, ledger, device } = await pair();
  const message = await device.answer("browser", "firefox");
  assert.equal(bytes(server.posts[0]), Buffer.from(message).toString("hex"));
  await device.optOut();
  await assert.rejects(device.answer("browser", "firefox"), /opted out/);
  assert.equal((await ledger.spent()).spent, 1);
});

test("a message waits a random while, and at most the delay", async () => {
  const { server, ledger, device } = await pair({ delay: 100, clock: () => 1000 });
  await device.answer("browser", "firefox");
  assert.equal(server.posts.length, 0);
  const [report] = await waiting(ledger);
  assert.ok(report.due > 1000 && report.due <= 1100);
});

test("a full outbox refuses before it charges", async () => {
  const { ledger, device } = await pair({ delay: 1000 });
  await device.answer("browser", "firefox");
  await ledger.update((file) => {
    file.outbox = Array.from({ length: 100 }, (_, i) => ({ ...file.outbox[0], message: String(i) }));
    file.charges = [];
    file.tasks = {};
  });
  await assert.rejects(device.answer("browser", "firefox"), BudgetError);
  assert.equal((await ledger.spent()).spent, 0);
});

test("an owner who does not agree is not charged", async () => {
  const asked = [];
  const consent = async (notice, text) => asked.push({ notice, text }) > 1;
  const { server, ledger, device } = await pair({ consent });
  await assert.rejects(device.answer("browser", "firefox"), BudgetError);
  assert.equal((await ledger.spent()).spent, 0);
  await device.answer("browser", "firefox");
  assert.equal(server.posts.length, 1);
  assert.match(asked[0].text, /Answering costs epsilon 1 of your privacy budget/);
  assert.equal(asked[0].notice.name, "browser");
});

test("another document than the pinned or the stated one is refused", async () => {
  const other = "AAAAAAAAAAAAAAAAAAAAAA";
  const pinned = await pair({ digests: { browser: other } });
  await assert.rejects(pinned.device.answer("browser", "firefox"), MismatchError);
  assert.equal((await pinned.ledger.spent()).spent, 0);
  const right = await pair({ digests: { browser: digestOf(await browserTask()), survey: other } });
  await right.device.answer("browser", "firefox");
  const names = ["constructor", "__proto__"]; // names of tasks, and not of parts of an object
  const odd = await pair({ digests: {} }, ...(await Promise.all(names.map((name) => browserTask({ name })))));
  for (const name of names) await odd.device.answer(name, "firefox");
  const stated = await pair();
  stated.server.etag = '"AAAAAAAAAAAAAAAAAAAAAA"';
  await assert.rejects(stated.device.answer("browser", "firefox"), MismatchError);
  const named = await pair();
  named.server.tasks.set("other", await browserTask());
  await assert.rejects(named.device.answer("other", "firefox"), MismatchError);
  assert.equal((await named.ledger.spent()).spent, 0);
});

test("a task that is closed, unknown, or out of reach costs nothing", async () => {
  const { server, ledger, device } = await pair();
  for (const state of ["closing", "sealed", "finished"]) {
    server.state = state;
    await assert.rejects(device.answer("browser", "firefox"), StateError);
  }
  server.state = "open";
  server.round = null;
  await assert.rejects(device.answer("browser", "firefox"), StateError);
  server.round = { ...roundOf(await browserTask()), extra: 1 };
  await assert.rejects(device.answer("browser", "firefox"), CodecError);
  await assert.rejects(device.answer("unknown", "firefox"), MismatchError);
  await server.close();
  await assert.rejects(device.answer("browser", "firefox"), UnavailableError);
  assert.equal((await ledger.spent()).spent, 0);
});

test("a token goes with a report only where the task needs one", async () => {
  const enrolment = await browserTask({ name: "enrolled", collection: { ...COLLECTION, enrolment: true } });
  const { server, device } = await pair({ token: "secret token" }, await browserTask(), enrolment);
  await device.answer("browser", "firefox");
  await device.answer("enrolled", "firefox");
  assert.deepEqual(
    server.posts.map((post) => post.tokens),
    [undefined, ["secret token"]],
  );
});

test("every round of a longitudinal task is answered and sent alone", async () => {
  const document = await whereTask();
  const { server, ledger, device } = await pair({}, document);
  for (const number of [0, 1, 2]) {
    server.round = roundOf(document, number);
    await device.answer("where", "home");
  }
  assert.deepEqual(
    server.posts.map((post) => post.reports.length),
    [1, 1, 1],
  );
  assert.deepEqual(
    server.posts.map((post) => bytes(post).slice(4, 8)),
    ["0000", "0100", "0200"],
  );
  assert.equal((await ledger.spent()).spent, Number(parse(document).epsilon));
  const kept = await ledger.update((file) => file.tasks[digestOf(document)].messages);
  assert.deepEqual(Object.values(kept), server.posts.map(bytes));
});
