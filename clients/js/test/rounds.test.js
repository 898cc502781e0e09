import assert from "node:assert/strict";
import test from "node:test";

import { Client, MemoryLedger } from "../dist/index.js";
import { parse } from "../dist/wire/codec.js";
import { startPair } from "../support/collector.js";
import { browserTask, jointTask, roundLimits, roundOf, whereTask } from "../support/tasks.js";

const MISMATCH = { name: "MismatchError" };

/** Returns a client of the browser's task and a function that reads rounds of it. */
async function openBrowser(changes = {}) {
  const document = await browserTask(changes);
  const client = await Client.open(document, new MemoryLedger());
  return { client, round: (number, more) => client.round(roundOf(document, number, more)) };
}

test("the opening round is that of the document, to the letter", async () => {
  const { round } = await openBrowser({ rounds: roundLimits() });
  await round(0);
  const otherOpening = { ...MISMATCH, message: /another opening round than the task states/ };
  for (const change of [{ low: 1 }, { high: String(2n ** 63n) }])
    await assert.rejects(round(0, change), otherOpening);
});

test("a task that states no later rounds has none", async () => {
  const { round } = await openBrowser();
  await round(0);
  const later = { ...MISMATCH, message: /opening round only/ };
  for (const number of [1, 2, 65_535]) await assert.rejects(round(number), later);
});

test("a later round keeps to the number, width and kinds that the task states", async () => {
  const { ask } = roundOf(await browserTask());
  const hashed = { ...ask, mechanism: await affine() };
  const attribute = { ...ask, encoding: { kind: "attribute", column: 0 } };
  const cases = [
    [{}, 1, {}, true],
    [{}, 2, {}, true],
    [{}, 3, {}, false],
    [{ count: 65_536 }, 65_535, {}, true],
    [{}, 1, { ask: hashed }, false],
    [{ mechanisms: ["affine", "grr"] }, 1, { ask: hashed }, false],
    [{ mechanisms: ["affine", "grr"], width: 10 }, 1, { ask: hashed }, true],
    [{ mechanisms: ["grr"], width: 10 }, 1, { ask: hashed }, false],
    [{}, 1, { ask: attribute }, false],
    [{ encodings: ["attribute"] }, 1, { ask: attribute }, true],
    [{ encodings: ["size"] }, 1, { ask: attribute }, false],
    [{}, 1, { ask: { kind: "choice", members: [ask, hashed], weights: [] } }, false],
  ];
  for (const [limits, number, change, isAnnounced] of cases) {
    const { round } = await openBrowser({ rounds: roundLimits(limits) });
    const text = JSON.stringify([limits, number, change]);
    if (isAnnounced) assert.equal((await round(number, change)).number, number, text);
    else await assert.rejects(round(number, change), MISMATCH, text);
  }
});

/** Returns a mechanism of another kind for the same four answers. */
async function affine() {
  const { members } = parse(await jointTask("all pairs")).opening.ask;
  return members.mechanisms.find(({ kind }) => kind === "affine");
}

test("impossible limits are refused", async () => {
  for (const limits of [
    { count: 1 },
    { count: 65_537 },
    { width: 0 },
    { width: 2 ** 18 + 1 },
    { mechanisms: [] },
    { mechanisms: ["grr", "affine"] },
    { mechanisms: ["grr", "grr"] },
    { encodings: [""] },
  ])
    await assert.rejects(openBrowser({ rounds: roundLimits(limits) }), { name: "ParameterError" });
  for (const limits of [{ count: "3" }, { extra: 1 }, { mechanisms: "grr" }, { kind: "limits" }])
    await assert.rejects(openBrowser({ rounds: roundLimits(limits) }), { name: "CodecError" });
  const opening = roundOf(await browserTask(), 1);
  await assert.rejects(openBrowser({ opening }), /`opening` must be round number 0/);
});

test("a longitudinal task asks the same in every round", async () => {
  const document = await whereTask();
  const client = await Client.open(document, new MemoryLedger());
  for (const number of [1, 7, 65_535]) await client.round(roundOf(document, number, { low: 5 }));
  await assert.rejects(client.round(roundOf(document, 0, { low: 5 })), MISMATCH);
  const { ask } = roundOf(await browserTask());
  await assert.rejects(client.round(roundOf(document, 1, { ask })), MISMATCH);
});

test("a round that the task has not announced costs nothing and sends nothing", async (t) => {
  const document = await browserTask();
  const { collector, device, ledger } = await startPair(t, [document], {});
  for (const round of [roundOf(document, 1), roundOf(document, 0, { low: 1 })]) {
    collector.round = round;
    await assert.rejects(device.answer("browser", "firefox"), MISMATCH);
  }
  assert.equal(collector.posts.length, 0);
  assert.equal((await ledger.spent()).spent, 0);
});

test("a witness must show the task and the round that the collector asks", async (t) => {
  const rounds = roundLimits();
  const document = await browserTask({ rounds });
  const witness = await startPair(t, [document], {});
  const ledger = new MemoryLedger();
  const witnesses = [`${witness.collector.url}/`];
  const { collector, device } = await startPair(t, [document], { ledger, witnesses });
  const refuse = async (expected) => {
    await assert.rejects(device.answer("browser", "firefox"), expected);
    assert.equal(collector.posts.length, 0);
    assert.equal((await ledger.spent()).spent, 0);
  };
  collector.round = roundOf(document, 1); // for this device alone
  await refuse({ ...MISMATCH, message: "a witness shows another round than the collector" });
  collector.round = undefined;
  witness.collector.state = "sealed";
  await refuse(MISMATCH);
  witness.collector.state = "open";
  witness.collector.tasks.set("browser", await browserTask());
  await refuse({ ...MISMATCH, message: /a round of another task/ });
  witness.collector.tasks.delete("browser");
  await refuse(MISMATCH);
  witness.collector.tasks.set("browser", document);
  await device.answer("browser", "firefox");
  assert.equal(collector.posts.length, 1);
  await witness.collector.close();
  collector.tasks.set("browser", await browserTask({ description: "again" }));
  await assert.rejects(device.answer("browser", "firefox"), { name: "UnavailableError" });
});
