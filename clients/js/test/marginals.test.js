import assert from "node:assert/strict";
import test from "node:test";

import {
  load,
  readDomain,
  readEncoding,
  readFamily,
  readMechanism,
} from "../dist/core/registry.js";
import { Client, DomainError, MemoryLedger, ParameterError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { reportOf, startPair } from "../support/collector.js";
import { COLLECTION, jointTask, roundOf, wholeRecordTask } from "../support/tasks.js";

const NAMES = ["home", "car", "rooms", "pet"];
const HOME = { home: "house", car: "yes", rooms: 3, pet: 0 };

test("a device answers with its cell of one view, and the coin picks the view", async (t) => {
  const document = await jointTask("all pairs");
  const { name, domain } = parse(document);
  await load(domain);
  const { collector, device, ledger } = await startPair(t, [document]);
  for (const wrong of [
    { ...HOME, rooms: 5 },
    { ...HOME, more: 1 },
    { home: "flat" },
    "house",
    [1, 1, 2, 0],
    null,
  ])
    assert.throws(() => readDomain(domain).index(wrong), DomainError);
  await device.answer(name, HOME);
  const report = reportOf(collector.posts[0]);
  assert.equal(report.length, 44 + 10, "as long as the longest report of all views");
  assert.ok(report.readUInt32LE(8) < 6);
  assert.equal((await ledger.spent()).spent, 1);
});

test("every view is asked, and a report fits its cells", async () => {
  const document = await jointTask("all triples");
  const cells = [24, 12, 24, 16];
  const members = new Set();
  for (let user = 0; user < 150; user++) {
    const client = await Client.open(document, new MemoryLedger());
    const message = Buffer.from(await client.answer(HOME));
    const member = message.readUInt32LE(8);
    members.add(member);
    assert.ok(message.length === 45 && message[44] < cells[member]);
  }
  assert.equal(members.size, 4);
});

test("a whole record is reported at once", async (t) => {
  for (const [document, bytes] of [
    [await jointTask("whole records"), 1],
    [await wholeRecordTask(), 6],
  ]) {
    const { collector, device } = await startPair(t, [document]);
    await device.answer(parse(document).name, HOME);
    assert.equal(reportOf(collector.posts[0]).length, 44 + bytes);
  }
});

test("questions about attributes that the domain does not have are refused", async () => {
  for (const ask of ["all pairs", "single attributes", "whole records", ""]) {
    const changed = (changes) => (ask ? jointTask(ask, changes) : wholeRecordTask(changes));
    const { attributes } = parse(await changed({})).domain;
    // Every attribute has more values, so the question is refused whatever the coin picks.
    const wider = attributes.map(({ high = 0 }) => ({ kind: "integers", low: 0, high: 9 + high }));
    for (const [domain, value] of [
      [{ kind: "records", names: NAMES, attributes: wider }, { home: 1, car: 1, rooms: 1, pet: 1 }],
      [{ kind: "integers", low: 0, high: 47 }, 3],
    ]) {
      const document = await changed({ domain });
      const client = await Client.open(document, new MemoryLedger());
      await assert.rejects(client.answer(value), ParameterError, ask);
      assert.equal((await client.ledger.spent()).spent, 0);
    }
  }
});

test("a question with a waiver has an unknown field, in a task and in a round", async () => {
  const document = await wholeRecordTask();
  const waiver = "The operator accepts that correlated attributes leak more.";
  const ask = { ...parse(document).opening.ask, waiver };
  const unknownField = { name: "CodecError", message: /fields.* mechanism, epsilon, encoding/ };
  const task = await wholeRecordTask({ opening: roundOf(document, 0, { ask }) });
  await assert.rejects(Client.open(task, new MemoryLedger()), unknownField);
  const client = await Client.open(document, new MemoryLedger());
  await assert.rejects(client.round(roundOf(document, 1, { ask })), unknownField);
  assert.equal((await client.ledger.spent()).spent, 0);
});

test("in a rehearsal records are drawn at random", async () => {
  const collection = { ...COLLECTION, sandbox: true };
  for (const document of [
    await jointTask("all pairs", { collection }),
    await jointTask("whole records", { collection }),
    await wholeRecordTask({ collection }),
  ]) {
    const client = await Client.open(document, new MemoryLedger());
    assert.ok((await client.answer(HOME)).length > 44);
  }
});

test("a kind is read as what it is", async () => {
  await load([{ kind: "view" }, { kind: "views" }, { kind: "grr" }]);
  const refused = [
    [readMechanism, ["view", "views"]],
    [readEncoding, ["views", "grr"]],
    [readFamily, ["view", "grr", "choice"]],
  ];
  for (const [read, kinds] of refused)
    for (const kind of kinds) assert.throws(() => read({ kind }), ParameterError);
});

test("devices do not know the kinds of the laboratory", async () => {
  const mechanisms = ["channels", "hcms", "product"];
  const encodings = ["alpha_point", "channel", "parity"];
  const unknown = { name: "ParameterError", message: /unknown/ };
  for (const kind of [...mechanisms, ...encodings, "parities"]) {
    await load({ kind });
    for (const read of [readMechanism, readEncoding, readFamily])
      assert.throws(() => read({ kind }), unknown);
  }
});
