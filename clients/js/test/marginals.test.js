import assert from "node:assert/strict";
import test, { afterEach } from "node:test";

import { Client, CodecError, Device, DomainError, MemoryLedger, ParameterError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { load, readEncoding, readFamily, readMechanism } from "../dist/core/registry.js";
import { collector } from "../support/collector.js";
import { COLLECTION, jointTask, roundOf } from "../support/tasks.js";

const HOME = { home: "house", car: "yes", rooms: 3, pet: 0 };
const COIN = { kind: "grr", epsilon: "1.0", size: 2, keep: "13485573287837586230" };
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

/** Everybody is asked for one coefficient of records of so many values each. */
async function parities(sizes, order, within = false) {
  const members = { kind: "parities", mechanism: COIN, sizes, order, within };
  const names = sizes.map((_, place) => `a${place}`);
  const attributes = sizes.map((size) => ({ kind: "integers", low: 0, high: size - 1 }));
  const document = await jointTask("method inp_ht", { domain: { kind: "records", names, attributes } });
  const opening = roundOf(document, 0, { ask: { kind: "choice", members, weights: [] } });
  return { ...parse(document), opening };
}

test("a device tells its cell of one view, and the coin says of which", async () => {
  const { server, device, name } = await pair(await jointTask("method calm"));
  for (const wrong of [{ ...HOME, rooms: 5 }, { ...HOME, more: 1 }, { home: "flat" }, "house", [1, 1, 2, 0], null])
    await assert.rejects(device.answer(name, wrong), DomainError);
  assert.equal((await device.ledger.spent()).spent, 0);
  await device.answer(name, HOME);
  assert.equal(sent(server).length, 44 + 10, "as long as the longest report of all views");
  assert.ok(sent(server).readUInt32LE(8) < 6);
  assert.equal((await device.ledger.spent()).spent, 1);
});

test("the explanation names the mechanisms of all views", async () => {
  const client = await Client.open(await jointTask("method calm"), new MemoryLedger());
  assert.match(await client.explain(), /\(grr, affine\).*epsilon 1\.0/);
});

test("every view is asked, and a report fits its cells", async () => {
  const members = new Set();
  const cells = [6, 12, 6, 8, 4, 8];
  for (let user = 0; user < 150; user++) {
    const client = await Client.open(await jointTask("method marg_ps"), new MemoryLedger());
    const message = Buffer.from(await client.answer(HOME));
    const member = message.readUInt32LE(8);
    members.add(member);
    assert.ok(message.length === 45 && message[44] < cells[member]);
  }
  assert.equal(members.size, 6);
});

test("a whole record is told at once, each attribute at its own risk", async () => {
  for (const [method, bytes] of [
    ["inp_em", 1],
    ["inp_htcms", 2],
    ["inp_rr", 6],
    ["inp_ps", 1],
  ]) {
    const { server, device, name } = await pair(await jointTask(`method ${method}`));
    await device.answer(name, HOME);
    assert.equal(sent(server).length, 44 + bytes, method);
  }
});

test("of a million coefficients one is found without listing them", async () => {
  const document = await parities(Array(20).fill(2), 20);
  const client = await Client.open(JSON.stringify(document), new MemoryLedger());
  assert.match(await client.explain(), /\(grr\).*epsilon 1\.0/);
  const value = Object.fromEntries(document.domain.names.map((name, place) => [name, place & 1]));
  const message = Buffer.from(await client.answer(value));
  assert.ok(message.length === 45 && message.readUInt32LE(8) < 2 ** 20 - 1);
});

test("coefficients too many to count are refused at once", async () => {
  for (const [sizes, order] of [
    [Array(60).fill(2), 30],
    [Array(3000).fill(2), 20],
    [Array(400).fill(10 ** 6), 20],
    [[2 ** 52, 2 ** 52], 2],
  ])
    for (const within of [false, true]) {
      const opening = Client.open(JSON.stringify(await parities(sizes, order, within)), new MemoryLedger());
      await assert.rejects(opening, ParameterError);
    }
});

test("all coefficients of a family are different, and there are as many as it says", async () => {
  for (const [sizes, order] of [
    [[3, 2, 4, 2], 2],
    [[3, 2, 5], 3],
    [[2, 2, 2, 2, 2, 2], 4],
  ]) {
    const content = { kind: "parities", mechanism: COIN, sizes, order, within: false };
    await load(content);
    const family = readFamily(content);
    const bits = sizes.flatMap((size, column) =>
      [1, 2, 4].filter((bit) => bit < size).map((bit) => sizes.map((_, at) => (at === column ? bit : 0))),
    );
    const found = Array.from({ length: family.length }, (_, place) =>
      bits.map((record) => family.at(place).encoding.encode(record)).join(""),
    );
    assert.equal(new Set(found).size, family.length);
    assert.ok(found.every((one) => one.includes("1")));
  }
});

test("questions about attributes that are not there, or of other sizes, are refused and cost nothing", async () => {
  const names = ["home", "car", "rooms", "pet"];
  for (const method of ["calm", "inp_ht", "inp_em", "marg_ps"]) {
    const document = await jointTask(`method ${method}`);
    const { attributes } = parse(document).domain;
    // Every attribute has more values, so that whatever the coin picks is refused.
    const wider = attributes.map((one) => ({ kind: "integers", low: 0, high: 9 + (one.high ?? 0) }));
    for (const domain of [
      { kind: "records", names, attributes: wider },
      { kind: "integers", low: 0, high: 47 },
    ]) {
      const client = await Client.open(await jointTask(`method ${method}`, { domain }), new MemoryLedger());
      const value = domain.names ? { home: 1, car: 1, rooms: 1, pet: 1 } : 3;
      await assert.rejects(client.answer(value), ParameterError, method);
      assert.equal((await client.ledger.spent()).spent, 0);
    }
  }
});

test("a weaker guarantee is refused, in the task and in a later round", async () => {
  const document = await jointTask("method inp_em");
  const waiver = "The operator accepts that correlated attributes leak more.";
  const ask = { ...parse(document).opening.ask, epsilon: "0.5", waiver };
  const opening = roundOf(document, 0, { ask });
  await assert.rejects(Client.open(await jointTask("method inp_em", { opening }), new MemoryLedger()), CodecError);
  const client = await Client.open(document, new MemoryLedger());
  await assert.rejects(client.round(roundOf(document, 1, { ask })), CodecError);
  assert.equal((await client.ledger.spent()).spent, 0);
});

test("in a rehearsal records are drawn at random", async () => {
  const collection = { ...COLLECTION, sandbox: true };
  for (const method of ["calm", "inp_ht", "inp_em", "inp_htcms"]) {
    const document = await jointTask(`method ${method}`, { collection });
    const client = await Client.open(document, new MemoryLedger({ cap: 0 }));
    assert.ok((await client.answer(HOME)).length > 44);
  }
});

test("a kind is read as what it is", async () => {
  await load([{ kind: "view" }, { kind: "views" }, { kind: "parity" }, { kind: "parities" }, { kind: "product" }]);
  for (const kind of ["view", "views", "parity", "parities"])
    assert.throws(() => readMechanism({ kind }), ParameterError);
  for (const kind of ["views", "parities", "product", "hcms"]) assert.throws(() => readEncoding({ kind }), ParameterError);
  for (const kind of ["view", "parity", "product", "choice"]) assert.throws(() => readFamily({ kind }), ParameterError);
});
