import assert from "node:assert/strict";
import test, { afterEach } from "node:test";

import { Client, Device, DomainError, MemoryLedger, ParameterError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { load, readDomain, readMechanism } from "../dist/core/registry.js";
import { collector } from "../support/collector.js";
import { COLLECTION, discoveryTask, roundOf } from "../support/tasks.js";

const TEXTS = "the most frequent texts";
const SETS = "few items: direct response";
const open = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function pair(document) {
  const server = await collector(document);
  const device = new Device(server.url, { delay: 0, ledger: new MemoryLedger() });
  open.push(server, device);
  return { server, device, name: parse(document).name };
}

const sent = ({ posts }) => Buffer.from(posts.at(-1).reports[0], "base64");

/** One question for each of some items, by randomised response of two values. */
async function eachItem(items, among, changes = {}) {
  const document = await discoveryTask(SETS, changes);
  const mechanism = { kind: "grr", epsilon: "2.0", size: 2, keep: "16247838278329192790" };
  const ask = { kind: "choice", members: { kind: "each_item", mechanism, items, among }, weights: [] };
  return discoveryTask(SETS, { opening: roundOf(document, 0, { ask }), ...changes });
}

test("a device tells a text, of which a group reports some bits", async () => {
  const { server, device, name } = await pair(await discoveryTask(TEXTS));
  await assert.rejects(device.answer(name, 7), DomainError);
  await assert.rejects(
    device.answer(name, "secret\0"),
    (error) => error instanceof DomainError && !/secret/.test(error.stack),
  );
  assert.equal((await device.ledger.spent()).spent, 0);
  await device.answer(name, "hello, world");
  assert.equal(sent(server).length, 44 + 10);
  assert.ok(sent(server).readUInt32LE(8) < 3, "one of three groups");
  assert.equal((await device.ledger.spent()).spent, 2);
});

test("a device tells one item of a set, given as a list or as a Set", async () => {
  for (const value of [["fig", "kiwi", "something else"], new Set(["fig"]), [], new Set()]) {
    const { server, device, name } = await pair(await discoveryTask(SETS));
    for (const wrong of ["fig", { fig: 1 }, [1], null, new Map([["fig", 1]])])
      await assert.rejects(device.answer(name, wrong), DomainError);
    await device.answer(name, value);
    assert.equal(sent(server).length, 45);
    assert.ok(sent(server)[44] < 8);
  }
});

test("a device says of one item whether it has it, and the coin says of which", async () => {
  const members = new Set();
  for (let user = 0; user < 60; user++) {
    const client = await Client.open(await eachItem(7, [6, 0, 3]), new MemoryLedger());
    const message = Buffer.from(await client.answer(["pear", "fig"]));
    members.add(message.readUInt32LE(8));
    assert.ok(message.length === 45 && message[44] < 2);
  }
  assert.deepEqual([...members].sort(), [0, 1, 2]);
});

test("a family of a thousand million items is neither listed nor unsafe to explain", async () => {
  const items = { kind: "integers", low: 1, high: 10 ** 9 };
  const document = await eachItem(10 ** 9, [], { domain: { kind: "sets", items } });
  const client = await Client.open(document, new MemoryLedger());
  assert.match(await client.explain(), /epsilon 2 .*one particular item.*randomised response/);
  const message = Buffer.from(await client.answer([5, 10 ** 9]));
  assert.ok(message.readUInt32LE(8) < 10 ** 9);
});

test("questions about sets of other items are refused and cost nothing", async () => {
  const client = await Client.open(await eachItem(8, []), new MemoryLedger());
  await assert.rejects(client.answer(["fig"]), ParameterError);
  assert.equal((await client.ledger.spent()).spent, 0);
});

test("a subject is new in every message and the same in all parts of it", async () => {
  const subjects = new Set();
  for (let user = 0; user < 20; user++) {
    const document = await discoveryTask("one group, with subjects", { epsilon: "2.0" });
    const [question] = parse(document).opening.ask.members;
    const ask = { kind: "bundle", parts: [question, question] };
    const client = await Client.open(document, new MemoryLedger());
    const message = Buffer.from(await client.answer(200, await client.round(roundOf(document, 1, { ask }))));
    const [first, second] = [message.subarray(0, message.length / 2), message.subarray(message.length / 2)];
    assert.deepEqual([first[1], second[1]], [3, 3], "a subject and a slot");
    assert.deepEqual(first.subarray(44, 60), second.subarray(44, 60));
    assert.notDeepEqual(first.subarray(28, 44), second.subarray(28, 44), "reports have identities of their own");
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
    const client = await Client.open(await discoveryTask(comment, { collection }), new MemoryLedger({ cap: 0 }));
    await client.answer(value);
    const drawn = Array.from({ length: 50 }, () => String(client.notice.domain.randomIndex(words())));
    assert.ok(new Set(drawn).size > (comment === SETS ? 3 : 40), comment);
  }
});

test("a domain of bits stays one, whatever modules were loaded after it", async () => {
  await load([{ kind: "bits" }]);
  await load([{ kind: "oue" }]);
  assert.equal(readDomain({ kind: "bits", bits: 8 }).index(255), 255);
  for (const kind of ["bits", "sets", "sample", "each_item"])
    assert.throws(() => readMechanism({ kind }), ParameterError);
});

function words() {
  const bytes = (count) => crypto.getRandomValues(new Uint8Array(count));
  return { bytes, integer: (limit) => bytes(1)[0] % limit };
}
