import assert from "node:assert/strict";
import test from "node:test";

import { load, readDomain, readMechanism } from "../dist/core/registry.js";
import { SystemRng } from "../dist/core/rng.js";
import { Client, DomainError, MemoryLedger, ParameterError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { reportOf, startPair } from "../support/collector.js";
import { COLLECTION, discoveryTask, roundLimits, roundOf } from "../support/tasks.js";

const TEXTS = "the most frequent texts";
const SETS = "few items: direct response";
const COIN = { kind: "grr", epsilon: "2.0", size: 2, keep: "16247838278329192790" };

/** One question for each of some items, by randomised response of two values. */
async function eachItemTask(items, among, changes = {}) {
  const members = { kind: "each_item", mechanism: COIN, items, among };
  const ask = { kind: "choice", members, weights: [] };
  const opening = roundOf(await discoveryTask(SETS), 0, { ask });
  return discoveryTask(SETS, { opening, ...changes });
}

async function open(document, ledger = new MemoryLedger()) {
  return Client.open(document, ledger);
}

test("a device answers with a text, of which its group reports some bits", async (t) => {
  const document = await discoveryTask(TEXTS);
  const { name } = parse(document);
  const { collector, device, ledger } = await startPair(t, [document]);
  await device.answer(name, "hello, world");
  const report = reportOf(collector.posts[0]);
  assert.equal(report.length, 44 + 10);
  assert.ok(report.readUInt32LE(8) < 3, "one of three groups");
  assert.equal((await ledger.spent()).spent, 2);
});

test("a device answers with a set, given as a list or as a Set", async (t) => {
  const document = await discoveryTask(SETS);
  const { name, domain } = parse(document);
  await load(domain);
  for (const wrong of ["fig", { fig: 1 }, [1], null, new Map([["fig", 1]])])
    assert.throws(() => readDomain(domain).index(wrong), DomainError);
  for (const value of [["fig", "kiwi", "something else"], new Set(["fig"]), [], new Set()]) {
    const { collector, device } = await startPair(t, [document]);
    await device.answer(name, value);
    const report = reportOf(collector.posts[0]);
    assert.equal(report.length, 45);
    assert.ok(report[44] < 8);
  }
});

test("a device says whether it has one item, and the coin picks the item", async () => {
  const document = await eachItemTask(7, [6, 0, 3]);
  const members = new Set();
  for (let user = 0; user < 60; user++) {
    const message = Buffer.from(await (await open(document)).answer(["pear", "fig"]));
    members.add(message.readUInt32LE(8));
    assert.ok(message.length === 45 && message[44] < 2);
  }
  assert.deepEqual([...members].sort(), [0, 1, 2]);
});

test("a family of a thousand million items is neither listed nor slow to explain", async () => {
  const items = { kind: "integers", low: 1, high: 10 ** 9 };
  const client = await open(await eachItemTask(10 ** 9, [], { domain: { kind: "sets", items } }));
  const text = await client.explain();
  assert.match(text, /epsilon 2 .*one particular item.*randomised response/);
  const message = Buffer.from(await client.answer([5, 10 ** 9]));
  assert.ok(message.readUInt32LE(8) < 10 ** 9);
});

test("questions about sets of other items are refused and cost nothing", async () => {
  const client = await open(await eachItemTask(8, []));
  await assert.rejects(client.answer(["fig"]), ParameterError);
  assert.equal((await client.ledger.spent()).spent, 0);
});

test("a subject is new in every message and the same in all its reports", async () => {
  const kinds = { mechanisms: ["affine_prefix"], encodings: ["segment"] };
  const rounds = roundLimits({ width: 10, ...kinds });
  const document = await discoveryTask("one group, with subjects", { epsilon: "2.0", rounds });
  const [question] = parse(document).opening.ask.members;
  const ask = { kind: "bundle", parts: [question, question] };
  const subjects = new Set();
  for (let user = 0; user < 20; user++) {
    const client = await open(document);
    const round = await client.round(roundOf(document, 1, { ask }));
    const message = Buffer.from(await client.answer(200, round));
    const middle = message.length / 2;
    const [first, second] = [message.subarray(0, middle), message.subarray(middle)];
    assert.deepEqual([first[1], second[1]], [3, 3], "a subject and a slot");
    assert.deepEqual(first.subarray(44, 60), second.subarray(44, 60));
    assert.notDeepEqual(first.subarray(28, 44), second.subarray(28, 44), "the ids differ");
    subjects.add(first.subarray(44, 60).toString("hex"));
  }
  assert.equal(subjects.size, 20);
});

test("in a rehearsal texts, bits and sets are drawn at random", async () => {
  const collection = { ...COLLECTION, sandbox: true };
  for (const [comment, value] of [
    [TEXTS, "hello"],
    ["values of 48 bits", 2 ** 40],
    ["all above a share; prefixes up to 70 bits", 2n ** 69n],
    [SETS, ["fig"]],
  ]) {
    const document = await discoveryTask(comment, { collection });
    const client = await open(document);
    await client.answer(value);
    const rng = new SystemRng();
    const draw = () => String(client.notice.domain.randomIndex(rng));
    const drawn = new Set(Array.from({ length: 50 }, draw));
    assert.ok(drawn.size > (comment === SETS ? 3 : 40), comment);
  }
});

test("a domain of bits is read as such, whatever modules were loaded after it", async () => {
  await load([{ kind: "bits" }]);
  await load([{ kind: "oue" }]);
  assert.equal(readDomain({ kind: "bits", bits: 8 }).index(255), 255);
  for (const kind of ["bits", "sets", "sample", "each_item"])
    assert.throws(() => readMechanism({ kind }), ParameterError);
});
