import assert from "node:assert/strict";
import test from "node:test";

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
import { reportOf, startPair } from "../support/collector.js";
import { browserTask, COLLECTION, digestOf, roundOf, whereTask } from "../support/tasks.js";

async function start(t, options = {}) {
  return startPair(t, [await browserTask()], options);
}

const outbox = (ledger) => ledger.update((file) => file.outbox);
const hexOf = (post) => reportOf(post).toString("hex");

test("an answer is charged, sent once and removed from the outbox", async (t) => {
  const { collector, ledger, device } = await start(t);
  await device.answer("browser", "firefox");
  assert.equal(collector.posts.length, 1);
  assert.deepEqual(Object.keys(collector.posts[0]), ["reports"]);
  assert.equal(reportOf(collector.posts[0]).length, 45);
  assert.deepEqual(await outbox(ledger), []);
  await assert.rejects(device.answer("browser", "firefox"), BudgetError);
  assert.equal((await ledger.spent()).spent, 1);
  const headers = collector.requests.flatMap((request) => Object.keys(request.headers));
  assert.ok(!headers.includes("cookie") && !headers.includes("referer"));
});

test("a message whose answer is lost is sent again with the same bytes", async (t) => {
  const { collector, ledger, device } = await start(t);
  collector.mode = "cut";
  await device.answer("browser", "firefox");
  assert.equal((await outbox(ledger)).length, 1);
  collector.mode = "up";
  assert.deepEqual(await device.flush(), { sent: 0, refused: 0, waiting: 1 }, "not due yet");
  assert.deepEqual(await device.flush({ force: true }), { sent: 1, refused: 0, waiting: 0 });
  assert.equal(new Set(collector.posts.map(hexOf)).size, 1);
  assert.deepEqual(await outbox(ledger), []);
});

test("a busy collector gets the time it wants, and a stranger's page is no answer", async (t) => {
  let time = 5000;
  const { collector, ledger, device } = await start(t, { clock: () => time });
  collector.mode = "busy";
  await device.answer("browser", "firefox");
  const [report] = await outbox(ledger);
  assert.ok(report.due >= 5000 + 7200 && report.due <= 5000 + 7200 + 60, String(report.due));
  assert.equal(report.reason, "busy");
  collector.mode = "stranger";
  time = report.due;
  assert.equal((await device.flush()).waiting, 1);
  assert.equal((await device.waiting())[0].reason, "unexpected");
  collector.mode = "busy";
  collector.retryAfter = 10 ** 9;
  time += 3600;
  await device.flush();
  const [postponed] = await device.waiting();
  assert.ok(postponed.due <= time + 86_400 + 3600, "a collector may ask for a day, not for ever");
  collector.mode = "up";
  time = 1; // a clock that was set back does not make the report wait longer
  assert.equal((await device.flush()).sent, 1);
});

test("a refused message is dropped and recorded", async (t) => {
  const { collector, ledger, device } = await start(t);
  collector.mode = "late";
  await device.answer("browser", "firefox");
  assert.deepEqual(await outbox(ledger), []);
  const [refused] = await ledger.refusals();
  assert.deepEqual([refused.name, refused.code], ["browser", "too-late"]);
  assert.equal((await ledger.spent()).spent, 1, "what was charged stays charged");
});

test("a message is never given up: it waits longer and longer, up to an hour", async (t) => {
  let time = 0;
  const { collector, ledger, device } = await start(t, { clock: () => time });
  collector.mode = "down";
  await device.answer("browser", "firefox");
  for (let attempt = 1; attempt <= 200; attempt++) {
    const [report] = await device.waiting();
    assert.deepEqual([report.attempts, report.reason], [attempt, "unreachable"]);
    const wait = Math.min(60 * 2 ** (attempt - 1), 3600);
    assert.ok(report.due - time >= wait / 2 && report.due - time <= wait, `attempt ${attempt}`);
    time = report.due - 1;
    assert.equal((await device.flush()).waiting, 1, "not due yet");
    assert.equal((await device.waiting())[0].attempts, attempt);
    time = report.due;
    assert.deepEqual(await device.flush(), { sent: 0, refused: 0, waiting: 1 });
  }
  collector.mode = "up";
  assert.deepEqual(await device.flush({ force: true }), { sent: 1, refused: 0, waiting: 0 });
  assert.equal(collector.posts.length, 1);
  assert.deepEqual(await ledger.refusals(), []);
});

test("a collector that cannot be reached is tried once, not once for every message", async (t) => {
  const names = ["a", "b", "c"];
  const documents = await Promise.all(names.map((name) => browserTask({ name })));
  const { collector, ledger, device } = await startPair(t, documents, { delay: 1000 });
  for (const name of names) await device.answer(name, "firefox");
  const requestCount = collector.requests.length;
  collector.mode = "down";
  assert.deepEqual(await device.flush({ force: true }), { sent: 0, refused: 0, waiting: 3 });
  assert.equal(collector.requests.length, requestCount + 1);
  const attempts = (await outbox(ledger)).map((report) => report.attempts);
  assert.deepEqual(attempts, [1, 0, 0]);
  collector.mode = "up";
  assert.equal((await device.flush({ force: true })).sent, 3);
});

test("by itself a device tries once, and then waits with all that is due", async (t) => {
  let time = 5000;
  const names = ["a", "b", "c"];
  const documents = await Promise.all(names.map((name) => browserTask({ name })));
  const clock = () => time;
  const { collector, ledger, device } = await startPair(t, documents, { delay: 1000, clock });
  for (const name of names) await device.answer(name, "firefox");
  const requestCount = collector.requests.length;
  collector.mode = "down";
  time += 1000;
  await device.flush();
  await new Promise((done) => setTimeout(done, 100)); // a timer for what is due takes 10 ms
  assert.equal(collector.requests.length, requestCount + 1);
  const reports = await outbox(ledger);
  assert.ok(reports.every(({ due }) => due >= time + 30 && due <= time + 60));
  assert.deepEqual(reports.map(({ attempts }) => attempts), [1, 0, 0]);
  collector.mode = "up";
  time += 60;
  assert.deepEqual(await device.flush(), { sent: 3, refused: 0, waiting: 0 });
});

test("two senders do not send the same message at once", async (t) => {
  const { collector, ledger, device } = await start(t, { delay: 1000 });
  await device.answer("browser", "firefox");
  const second = new Device(collector.url, { ledger, delay: 1000 });
  t.after(() => second.close());
  const flushed = await Promise.all([device, second].map((each) => each.flush({ force: true })));
  assert.equal(flushed[0].sent + flushed[1].sent, 1);
  assert.equal(collector.posts.length, 1);
});

test("a message waits at most the delay, which is a minute by default", async (t) => {
  for (const [delay, longest] of [
    [100, 100],
    [undefined, 60],
  ]) {
    const { collector, ledger, device } = await start(t, { delay, clock: () => 1000 });
    assert.equal(device.delay, delay);
    await device.answer("browser", "firefox");
    assert.equal(collector.posts.length, 0);
    const [report] = await outbox(ledger);
    assert.ok(report.due > 1000 && report.due <= 1000 + longest);
  }
});

test("a device that was closed during an attempt sends nothing more by itself", async (t) => {
  let time = 1000;
  const { collector, device } = await start(t, { delay: 0.05, clock: () => time });
  await device.answer("browser", "firefox");
  const attempt = device.flush(); // not due yet
  device.close();
  assert.deepEqual(await attempt, { sent: 0, refused: 0, waiting: 1 });
  time += 60;
  await new Promise((done) => setTimeout(done, 150)); // a timer would be over after 60 ms
  assert.equal(collector.posts.length, 0);
  assert.equal((await device.flush()).sent, 1, "what waits is sent when the app says so");
});

test("an impossible delay is refused", async (t) => {
  const { ledger } = await start(t);
  for (const delay of [-1, NaN, Infinity])
    assert.throws(() => new Device("https://collector.example", { ledger, delay }), ParameterError);
});

test("a device returns the message that it sends, and its owner can opt out", async (t) => {
  const { collector, ledger, device } = await start(t);
  const message = await device.answer("browser", "firefox");
  assert.deepEqual(reportOf(collector.posts[0]), Buffer.from(message));
  await device.optOut();
  await assert.rejects(device.answer("browser", "firefox"), /opted out/);
  assert.equal((await ledger.spent()).spent, 1);
});

test("an owner who does not agree is not charged", async (t) => {
  const requests = [];
  const consent = async (notice, text) => requests.push({ notice, text }) > 1;
  const { collector, ledger, device } = await start(t, { consent });
  await assert.rejects(device.answer("browser", "firefox"), BudgetError);
  assert.equal((await ledger.spent()).spent, 0);
  await device.answer("browser", "firefox");
  assert.equal(collector.posts.length, 1);
  assert.match(requests[0].text, /Answering costs epsilon 1 of your privacy budget/);
  assert.equal(requests[0].notice.name, "browser");
});

test("another document than the pinned one is refused", async (t) => {
  const other = { digest: "AAAAAAAAAAAAAAAAAAAAAA" };
  const wrong = await start(t, { accepts: { browser: other } });
  await assert.rejects(wrong.device.answer("browser", "firefox"), MismatchError);
  assert.equal((await wrong.ledger.spent()).spent, 0);
  const accepts = { browser: { digest: digestOf(await browserTask()) }, survey: other };
  const right = await start(t, { accepts });
  await right.device.answer("browser", "firefox");
});

test("a task may have the name of a property that every object has", async (t) => {
  const names = ["constructor", "__proto__"];
  const documents = await Promise.all(names.map((name) => browserTask({ name })));
  const { device } = await startPair(t, documents, { accepts: {} });
  for (const name of names) await device.answer(name, "firefox");
});

test("another document than the stated one is refused", async (t) => {
  const stated = await start(t);
  stated.collector.etag = '"AAAAAAAAAAAAAAAAAAAAAA"';
  await assert.rejects(stated.device.answer("browser", "firefox"), MismatchError);
  const renamed = await start(t);
  renamed.collector.tasks.set("renamed", await browserTask());
  await assert.rejects(renamed.device.answer("renamed", "firefox"), MismatchError);
  assert.equal((await renamed.ledger.spent()).spent, 0);
});

test("a task that is closed, unknown, or cannot be reached costs nothing", async (t) => {
  const { collector, ledger, device } = await start(t);
  for (const state of ["closing", "sealed", "finished"]) {
    collector.state = state;
    await assert.rejects(device.answer("browser", "firefox"), StateError);
  }
  collector.state = "open";
  collector.round = null;
  await assert.rejects(device.answer("browser", "firefox"), StateError);
  collector.round = { ...roundOf(await browserTask()), extra: 1 };
  await assert.rejects(device.answer("browser", "firefox"), CodecError);
  await assert.rejects(device.answer("unknown", "firefox"), MismatchError);
  await collector.close();
  await assert.rejects(device.answer("browser", "firefox"), UnavailableError);
  assert.equal((await ledger.spent()).spent, 0);
});

test("a token goes only with the reports of tasks that need it", async (t) => {
  const collection = { ...COLLECTION, enrolment: true };
  const documents = [await browserTask(), await browserTask({ name: "enrolled", collection })];
  const { collector, device } = await startPair(t, documents, { token: "secret token" });
  await device.answer("browser", "firefox");
  await device.answer("enrolled", "firefox");
  const tokens = collector.posts.map((post) => post.tokens);
  assert.deepEqual(tokens, [undefined, ["secret token"]]);
});

test("every round of a longitudinal task is answered and sent alone", async (t) => {
  const document = await whereTask();
  const { collector, ledger, device } = await startPair(t, [document]);
  for (const number of [0, 1, 2]) {
    collector.round = roundOf(document, number);
    await device.answer("where", "home");
  }
  const { posts } = collector;
  assert.ok(posts.every((post) => post.reports.length === 1));
  const roundNumbers = posts.map((post) => reportOf(post).readUInt16LE(2));
  assert.deepEqual(roundNumbers, [0, 1, 2]);
  assert.equal((await ledger.spent()).spent, Number(parse(document).epsilon));
  const messages = await ledger.update((file) => file.tasks[digestOf(document)].messages);
  const bytes = Object.values(messages).map((message) => message.bytes);
  assert.deepEqual(bytes, posts.map(hexOf));
});

test("at most 100 reports wait for one address, and those of another do not count", async (t) => {
  const ledger = new MemoryLedger({ cap: 1000 });
  const names = Array.from({ length: 101 }, (_, i) => `task ${i}`);
  const documents = await Promise.all(names.map((name) => browserTask({ name })));
  const options = { ledger, delay: 1_000_000 };
  const { device } = await startPair(t, documents, options);
  for (const name of names.slice(0, 100)) await device.answer(name, "firefox");
  await assert.rejects(device.answer(names[100], "firefox"), /100 reports wait/);
  assert.equal((await ledger.spent()).spent, 100);
  const second = await startPair(t, documents, options);
  await second.device.answer(names[100], "firefox");
});
