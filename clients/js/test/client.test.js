import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import { hex } from "../dist/bytes.js";
import { enrolledBytes, roundCoin } from "../dist/core/coin.js";
import { load, readDomain, readEncoding, readMechanism } from "../dist/core/registry.js";
import {
  AccessError,
  BudgetError,
  Client,
  CodecError,
  MemoryLedger,
  MismatchError,
  ParameterError,
} from "../dist/index.js";
import { RecordedRng } from "../support/recorded_rng.js";
import {
  browserTask,
  COLLECTION,
  digestOf,
  roundLimits,
  roundOf,
  whereTask,
  wholeRecordTask,
} from "../support/tasks.js";

async function openBrowser(changes = {}, ledger = new MemoryLedger()) {
  return Client.open(await browserTask(changes), ledger);
}

test("a device answers once, and repeats the same bytes", async () => {
  const client = await openBrowser();
  const message = await client.answer("firefox");
  await assert.rejects(client.answer("firefox"), BudgetError);
  assert.deepEqual(await client.resend(), message);
  assert.deepEqual(await client.ledger.spent(), { spent: 1, cap: 10 });
});

test("a value outside the domain is charged and answered like any other", async () => {
  const hostile = new Proxy([], {
    get() {
      throw new Error("konqueror");
    },
  });
  const document = await browserTask();
  for (const value of ["konqueror", 1, null, undefined, {}, ["firefox"], hostile]) {
    const reasons = [];
    const notify = (reason) => reasons.push(reason);
    const client = await Client.open(document, new MemoryLedger(), { notify });
    const message = await client.answer(value);
    assert.equal(message.length, 45);
    assert.equal((await client.ledger.spent()).spent, 1);
    assert.equal(reasons.length, 1);
    assert.match(reasons[0], /^a value must be /);
    assert.doesNotMatch(reasons[0], /konqueror/);
    await assert.rejects(client.answer("firefox"), BudgetError);
  }
});

test("a value inside the domain is nothing to be told about", async () => {
  const notify = () => assert.fail("the value lies in the domain");
  const client = await Client.open(await browserTask(), new MemoryLedger(), { notify });
  await client.answer("firefox");
});

test("the text of an error that a value throws is told nobody", async () => {
  const items = { kind: "records", names: ["a"], attributes: [{ kind: "bits", bits: 4 }] };
  await load(items);
  const hostile = {
    get a() {
      throw new TypeError("the secret");
    },
  };
  const ask = { ...roundOf(await browserTask()).ask, encoding: { kind: "attribute", column: 0 } };
  ask.mechanism = { ...ask.mechanism, size: 16, keep: "2829000000000000000" };
  const opening = roundOf(await browserTask(), 0, { ask });
  const reasons = [];
  const client = await Client.open(
    await browserTask({ domain: items, opening }),
    new MemoryLedger(),
    { notify: (reason) => reasons.push(reason) },
  );
  assert.equal((await client.answer(hostile)).length, 45);
  assert.deepEqual(reasons, ["a value must be of the kind that the task asks for"]);
});

test("the cap holds across tasks, and a refused answer leaves no trace", async () => {
  const ledger = new MemoryLedger({ cap: 2.5 });
  for (const name of ["a", "b"]) await (await openBrowser({ name }, ledger)).answer("safari");
  const third = await openBrowser({ name: "c" }, ledger);
  await assert.rejects(third.answer("safari"), /cap of 2.5 only 0.5 is left/);
  await assert.rejects(third.resend(), BudgetError);
  const charges = (await ledger.entries()).map(({ name, epsilon }) => `${name} ${epsilon}`);
  assert.deepEqual(charges, ["a 1.0", "b 1.0"]);
});

test("a window holds, slides, and a clock that was set back refills nothing", async () => {
  let time = 1000;
  const windows = [{ seconds: 60, epsilon: 2, reports: 5 }];
  const ledger = new MemoryLedger({ windows, clock: () => time });
  const answer = async (name) => (await openBrowser({ name }, ledger)).answer("safari");
  await answer("a");
  time = 1030;
  await answer("b");
  await assert.rejects(answer("c"), /within 60 seconds/);
  time = 10; // before both charges, which are still recent
  await assert.rejects(answer("c"), BudgetError);
  time = 1060;
  await answer("c");
  await assert.rejects(answer("d"), BudgetError);
});

test("a cap cannot be changed, and impossible limits are refused", async () => {
  for (const limits of [
    { cap: -1 },
    { cap: NaN },
    { cap: Infinity },
    { windows: [{ seconds: 0, epsilon: 1, reports: 1 }] },
  ])
    await assert.rejects(new MemoryLedger(limits).spent(), ParameterError);
  const ledger = new MemoryLedger({ cap: 3 });
  await ledger.spent();
  ledger.options.cap = 30;
  await assert.rejects(ledger.spent(), ParameterError);
});

test("opting out erases, refuses and refunds nothing", async () => {
  const ledger = new MemoryLedger();
  const browser = await openBrowser({}, ledger);
  const where = await Client.open(await whereTask(), ledger);
  await browser.answer("firefox");
  await where.answer("home");
  await ledger.optOut(browser.notice.digest);
  await assert.rejects(browser.resend(), BudgetError);
  await where.resend();
  await ledger.optOut();
  const next = await where.round(roundOf(await whereTask(), 1));
  await assert.rejects(where.answer("home", next), /opted out/);
  assert.equal((await ledger.spent()).spent, 5);
  await ledger.update((file) => assert.deepEqual([file.tasks, file.outbox], [{}, []]));
});

test("a device outside the share of a round is not asked, and keeps its coin", async () => {
  const client = await openBrowser({ rounds: roundLimits() });
  const coin = await client.coin();
  const [low, high] = coin < 1n << 63n ? [1n << 63n, 1n << 64n] : [0n, 1n << 63n];
  const share = { low: low ? String(low) : 0, high: String(high) };
  const round = await client.round(roundOf(await browserTask(), 1, share));
  const notAsked = { name: "MismatchError", message: /lies outside its share/ };
  await assert.rejects(client.answer("firefox", round), notAsked);
  assert.equal(await client.coin(), coin);
  assert.equal((await client.ledger.spent()).spent, 0);
});

test("the coin of an enrolled device follows from its token", async () => {
  const document = await browserTask({ collection: { ...COLLECTION, enrolment: true } });
  const digest = digestOf(document);
  const ledger = new MemoryLedger();
  await assert.rejects((await Client.open(document, ledger)).answer("firefox"), AccessError);
  const client = await Client.open(document, ledger, { token: "token" });
  assert.equal(await client.coin(), roundCoin(enrolledBytes("token", digest), digest));
  await client.answer("firefox");
  const reenrolled = await Client.open(document, ledger, { token: "another" });
  await assert.rejects(reenrolled.coin(), MismatchError);
  const options = { token: "token" };
  const notEnrolled = await Client.open(await browserTask(), new MemoryLedger(), options);
  assert.equal(notEnrolled.token, undefined, "a task without enrolment does not see the token");
});

/** Returns how often the value is looked at while a record is asked for. */
async function touchesOf(collection) {
  let touches = 0;
  const touch = () => void touches++;
  const traps = { get: touch, has: touch, getOwnPropertyDescriptor: touch };
  const value = new Proxy({}, traps);
  const client = await Client.open(await wholeRecordTask({ collection }), new MemoryLedger());
  await client.answer(value);
  return touches;
}

test("a rehearsal never looks at the value", async () => {
  assert.equal(await touchesOf({ ...COLLECTION, sandbox: true }), 0);
  assert.ok((await touchesOf(COLLECTION)) > 0, "an answer does, and that would be noticed");
});

test("a rehearsal tells nobody that the value lay outside, and is charged 0", async () => {
  const notify = () => assert.fail("nobody has looked");
  for (const value of ["konqueror", "firefox"]) {
    const document = await browserTask({ collection: { ...COLLECTION, sandbox: true } });
    const client = await Client.open(document, new MemoryLedger(), { notify });
    await client.answer(value);
    await assert.rejects(client.answer("firefox"), BudgetError);
    const [charge] = await client.ledger.entries();
    assert.equal(charge.epsilon, "0.0");
    assert.deepEqual(await client.ledger.spent(), { spent: 0, cap: 10 });
  }
});

test("a rehearsal counts as a report of every window", async () => {
  const windows = [{ seconds: 60, epsilon: 5, reports: 2 }];
  const ledger = new MemoryLedger({ windows, clock: () => 1000 });
  const collection = { ...COLLECTION, sandbox: true };
  await (await openBrowser({ name: "a", collection }, ledger)).answer("safari");
  await (await openBrowser({ name: "b" }, ledger)).answer("safari");
  for (const changes of [{ name: "c", collection }, { name: "d" }])
    await assert.rejects((await openBrowser(changes, ledger)).answer("safari"), /within 60/);
});

test("with a cap of 0 nothing leaves, not even a rehearsal", async () => {
  for (const sandbox of [false, true]) {
    const ledger = new MemoryLedger({ cap: 0 });
    const client = await openBrowser({ collection: { ...COLLECTION, sandbox } }, ledger);
    await assert.rejects(client.answer("firefox"), BudgetError);
    await assert.rejects(client.resend(), BudgetError);
    assert.deepEqual(await ledger.entries(), []);
  }
});

test("a rehearsal sends all values equally often, an answer the true one more often", async () => {
  // Of 2,000 answers at epsilon 1 the true value is expected 951 times, in a rehearsal 500 times;
  // 5 sigma are less than 115.
  const countAnswers = async (changes) => {
    const client = await openBrowser(changes);
    const counts = [0, 0, 0, 0];
    for (let user = 0; user < 2000; user++)
      await client.ledger.update((file) => {
        counts[client.respond(file, "firefox", client.notice.opening).message.at(-1)]++;
        Object.assign(file, { tasks: {}, charges: [] }); // the next answer is another device's
      });
    return counts;
  };
  const rehearsed = await countAnswers({ collection: { ...COLLECTION, sandbox: true } });
  const isEven = rehearsed.every((count) => Math.abs(count - 500) < 115);
  assert.ok(isEven, String(rehearsed));
  const answered = await countAnswers({});
  assert.ok(Math.abs(answered[1] - 951) < 115, String(answered));
});

test("a longitudinal task is paid once and answered once a round, from memory", async () => {
  const document = await whereTask();
  const client = await Client.open(document, new MemoryLedger());
  await client.answer("home");
  await assert.rejects(client.answer("home"), BudgetError);
  for (const [i, value] of ["home", "office", "road", "home", "nowhere"].entries())
    await client.answer(value, await client.round(roundOf(document, i + 1)));
  assert.equal((await client.ledger.spent()).spent, 4);
  await client.ledger.update((file) => {
    const { responses, messages } = file.tasks[client.notice.digest];
    assert.equal(responses[0].length, 2, "home and office; the others repeat the last response");
    assert.equal(Object.keys(messages).length, 6);
    const text = JSON.stringify(file);
    assert.ok(!/home|office|road|nowhere/.test(text), "no value is written down");
  });
  const narrower = await client.round(roundOf(document, 9, { low: 5 }));
  assert.equal(narrower.number, 9);
  await assert.rejects(client.round(roundOf(await browserTask(), 9)), MismatchError);
});

test("a mechanism draws and sends the same number of bytes for every value", async () => {
  const golden = new URL("../../../tests/golden/perturb.json", import.meta.url);
  const { reports } = JSON.parse(await readFile(golden));
  const small = reports.map((row) => row.mechanism).filter(({ size }) => size <= 64);
  const recording = new Uint8Array(1 << 16).map((_, i) => (i * 2654435761) >>> 24);
  const kinds = new Set();
  for (const content of small) {
    await load(content);
    const mechanism = readMechanism(content);
    const lengths = new Set();
    for (let index = 0; index < mechanism.size; index++) {
      const rng = new RecordedRng(recording);
      const report = mechanism.instantaneous(mechanism.permanent(index, rng), rng);
      lengths.add(`${rng.consumed} bytes drawn, ${report.length} sent`);
    }
    assert.equal(lengths.size, 1, `${mechanism.kind}: ${[...lengths]}`);
    kinds.add(mechanism.kind);
  }
  assert.equal(kinds.size, 16);
});

test("unknown fields, kinds, versions and prices are refused with typed errors", async () => {
  const refused = [
    [{ extra: 1 }, CodecError],
    [{ version: 2 }, CodecError],
    [{ collection: null }, CodecError],
    [{ distinct: "2" }, CodecError],
    [{ distinct: 0 }, ParameterError],
    [{ distinct: 65536 }, ParameterError],
    [{ distinct: 2 }, ParameterError],
    [{ collection: { ...COLLECTION, extra: 1 } }, CodecError],
    [{ collection: { ...COLLECTION, minimum: 1 } }, ParameterError],
    [{ collection: { ...COLLECTION, quota: 49 } }, ParameterError],
    [{ collection: { ...COLLECTION, retention: 0 } }, ParameterError],
    [{ collection: { ...COLLECTION, crowd: 1 } }, ParameterError],
    [{ collection: { ...COLLECTION, sandbox: 0 } }, CodecError],
    [{ collection: { ...COLLECTION, grace: 2 ** 32 } }, ParameterError],
    [{ epsilon: "0.9" }, ParameterError],
    [{ domain: { kind: "constructor" } }, ParameterError],
    [{ opening: null }, CodecError],
    [{ domain: undefined }, CodecError],
  ];
  for (const [changes, errorClass] of refused)
    await assert.rejects(openBrowser(changes), errorClass, JSON.stringify(changes));
  await openBrowser({ collection: COLLECTION, distinct: 1 });
});

test("choices and bundles nest once", async () => {
  const { ask: question } = roundOf(await browserTask({ epsilon: "8.0" }));
  const choice = (...members) => ({ kind: "choice", members, weights: [] });
  const bundle = (...parts) => ({ kind: "bundle", parts });
  const client = await openBrowser({ epsilon: "8.0", rounds: roundLimits() });
  const round = async (ask) => client.round(roundOf(await browserTask(), 1, { ask }));
  await round(choice(bundle(question, question), question));
  await round(bundle(choice(question), question));
  for (const ask of [
    choice(choice(question)),
    bundle(bundle(question)),
    choice(bundle(choice(question))),
    bundle(choice(bundle(question))),
    choice(),
    bundle(),
  ])
    await assert.rejects(round(ask), ParameterError, JSON.stringify(ask));
});

test("a kind is read as nothing else, whatever was loaded before", async () => {
  await load([{ kind: "grr" }, { kind: "categories" }, { kind: "attribute" }, { kind: "subset" }]);
  for (const kind of ["attribute", "categories", "read", "bits", "toString"])
    assert.throws(() => readMechanism({ kind }), ParameterError);
  for (const kind of ["grr", "categories"])
    assert.throws(() => readEncoding({ kind }), ParameterError);
  for (const kind of ["grr", "attribute"])
    assert.throws(() => readDomain({ kind }), ParameterError);
});

test("every report has an id of its own", async () => {
  const ids = new Set();
  for (let user = 0; user < 50; user++) {
    const message = await (await openBrowser()).answer("firefox");
    ids.add(hex(message.subarray(28, 44)));
  }
  assert.equal(ids.size, 50);
});
