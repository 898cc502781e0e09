import assert from "node:assert/strict";
import test, { afterEach } from "node:test";

import { Client, Device, DomainError, MemoryLedger, ParameterError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { load, readEncoding, readFamily, readMechanism } from "../dist/core/registry.js";
import { collector } from "../support/collector.js";
import { COLLECTION, jointTask, roundOf } from "../support/tasks.js";

const HOME = { home: "house", car: "yes", rooms: 3, pet: 0 };
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

test("a whole record is reported at once", async () => {
  for (const [method, bytes] of [
    ["inp_rr", 6],
    ["inp_ps", 1],
    ["inp_olh", 6],
  ]) {
    const { server, device, name } = await pair(await jointTask(`method ${method}`));
    await device.answer(name, HOME);
    assert.equal(sent(server).length, 44 + bytes, method);
  }
});

test("questions about attributes that are not there, or of other sizes, are refused and cost nothing", async () => {
  const names = ["home", "car", "rooms", "pet"];
  for (const method of ["calm", "inp_ps", "inp_olh", "marg_ps"]) {
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

test("a question with a waiver has an unknown field, in the task and in a later round", async () => {
  const document = await jointTask("method inp_ps");
  const waiver = "The operator accepts that correlated attributes leak more.";
  const ask = { ...parse(document).opening.ask, waiver };
  const opening = roundOf(document, 0, { ask });
  const unknownField = { name: "CodecError", message: /fields.* mechanism, epsilon, encoding/ };
  const task = await jointTask("method inp_ps", { opening });
  await assert.rejects(Client.open(task, new MemoryLedger()), unknownField);
  const client = await Client.open(document, new MemoryLedger());
  await assert.rejects(client.round(roundOf(document, 1, { ask })), unknownField);
  assert.equal((await client.ledger.spent()).spent, 0);
});

test("in a rehearsal records are drawn at random", async () => {
  const collection = { ...COLLECTION, sandbox: true };
  for (const method of ["calm", "inp_ps", "inp_olh", "marg_rr"]) {
    const document = await jointTask(`method ${method}`, { collection });
    const client = await Client.open(document, new MemoryLedger({ cap: 0 }));
    assert.ok((await client.answer(HOME)).length > 44);
  }
});

test("a kind is read as what it is", async () => {
  await load([{ kind: "view" }, { kind: "views" }, { kind: "grr" }]);
  for (const kind of ["view", "views"]) assert.throws(() => readMechanism({ kind }), ParameterError);
  for (const kind of ["views", "grr"]) assert.throws(() => readEncoding({ kind }), ParameterError);
  for (const kind of ["view", "grr", "choice"]) assert.throws(() => readFamily({ kind }), ParameterError);
});

test("the kinds of the laboratory are unknown to devices", async () => {
  const unknown = { name: "ParameterError", message: /unknown/ };
  for (const kind of ["channels", "hcms", "product", "alpha_point", "channel", "parity", "parities"]) {
    await load({ kind });
    for (const read of [readMechanism, readEncoding, readFamily]) assert.throws(() => read({ kind }), unknown);
  }
});
