import assert from "node:assert/strict";
import test from "node:test";

import { load, readDomain, readEncoding, readFamily } from "../dist/core/registry.js";
import { BudgetError, Client, DomainError, MemoryLedger, ParameterError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { reportOf, startPair } from "../support/collector.js";
import { COLLECTION, roundOf, tableTask } from "../support/tasks.js";

const ANN = { age: 3, home: "house", weight: 0.5, area: '"north"' };
const ACCEPTS = { public: ["people.weight", "people.area"] };
const WIDTH = 10; // bytes of a payload in these tasks
const orders = (count) => Array.from({ length: count }, (_, i) => ({ price: i % 25 }));

/** Returns the flags, the subject, the slot and the public text of every envelope of a message. */
function envelopesOf(message) {
  const bytes = Buffer.from(message);
  const envelopes = [];
  for (let start = 0; start < bytes.length; ) {
    const end = start + bytes.readUInt32LE(start + 4);
    const envelope = bytes.subarray(start, end);
    const subject = envelope.toString("hex", 44, 60);
    const slot = envelope.readUInt16LE(60);
    const publicText = envelope.toString("utf8", 62, envelope.length - WIDTH);
    envelopes.push({ flags: envelope[1], subject, slot, publicText });
    start = end;
  }
  return envelopes;
}

async function open(document, ledger = new MemoryLedger()) {
  return Client.open(document, ledger, { accepts: ACCEPTS });
}

async function answer(document, value) {
  return (await open(document)).answer(value);
}

test("a device answers for all tables at once; only public columns are in clear", async (t) => {
  const { collector, device, ledger } = await startPair(t, [await tableTask("shop")], {
    accepts: { shop: ACCEPTS },
  });
  await device.answer("shop", { people: ANN, orders: orders(2) });
  const envelopes = envelopesOf(reportOf(collector.posts[0]));
  const slots = envelopes.map(({ slot }) => slot);
  assert.deepEqual(slots, [0, 1, 2]);
  assert.equal(new Set(envelopes.map(({ subject }) => subject)).size, 1);
  for (const { flags, publicText } of envelopes) {
    assert.equal(flags, 7);
    assert.equal(publicText, '{"people.area":"\\"north\\"","people.weight":"0.5"}');
  }
  assert.equal((await ledger.spent()).spent, 3);
});

test("neither the number nor the length of reports depends on the records", async () => {
  const shop = await tableTask("shop");
  const shapes = new Set();
  for (const orderCount of [0, 1, 3, 4, 500])
    for (const age of [-2, 9]) {
      const value = { people: { ...ANN, age }, orders: orders(orderCount) };
      const message = await answer(shop, value);
      shapes.add(`${message.length} bytes in ${envelopesOf(message).length} envelopes`);
    }
  assert.equal(shapes.size, 1);
  const list = await tableTask("orders");
  const counts = [0, 1, 3, 1000];
  const messages = await Promise.all(counts.map((count) => answer(list, orders(count))));
  assert.equal(new Set(messages.map(({ length }) => length)).size, 1);
});

test("a domain refuses values outside by their rule", async () => {
  const { domain: document } = parse(await tableTask("shop"));
  await load(document);
  const domain = readDomain(document);
  const sparse = [];
  sparse[2] = { price: 1 };
  const wrongColumns = [
    ...[{ age: 1.5 }, { age: NaN }, { age: [1] }, { age: "1" }, { age: 10n }, { age: undefined }],
    ...[{ age: [[5]] }, { age: [] }, { home: [["flat"]] }, { home: "castle" }, { home: ["flat"] }],
    ...[{ weight: [[0.5]] }, { weight: NaN }, { weight: [1] }, { weight: 1n }],
    ...[{ area: ['"north"'] }, { area: "west" }, { more: 1 }],
  ];
  const wrongRecords = [[{ price: 1 }], { price: [1] }, { price: NaN }, [], { price: 1, uid: 1 }];
  const wrongLists = [null, undefined, {}, "[]", new Map(), sparse];
  for (const columns of wrongColumns)
    assert.throws(() => domain.index({ people: { ...ANN, ...columns }, orders: [] }), isSilent);
  for (const list of [...wrongLists, ...wrongRecords.map((record) => [record])])
    assert.throws(() => domain.index({ people: ANN, orders: list }), isSilent);
  const both = { people: ANN, orders: [] };
  for (const value of [ANN, [], [ANN, []], { people: ANN }, { ...both, uid: 1 }, null, "shop"])
    assert.throws(() => domain.index(value), isSilent);
});

/** Returns whether an error states the rule for values, and no value. */
function isSilent(error) {
  const statesRule = error instanceof DomainError && /^a value must be /.test(error.message);
  return statesRule && !/castle|west/.test(error.message);
}

test("public columns that are not declared, or missing, are refused and cost nothing", async () => {
  const { domain, declares } = parse(await tableTask("shop"));
  const { public: _, ...closed } = domain;
  const { age, home } = ANN;
  const undeclared = { name: "MismatchError", message: /declares (no|a) public part/ };
  const cases = [
    { domain, people: ANN, wrong: ["subject"], right: declares },
    { domain: closed, people: { age, home }, wrong: declares, right: ["subject"] },
  ];
  for (const collection of [COLLECTION, { ...COLLECTION, sandbox: true }])
    for (const { domain: own, people, wrong, right } of cases) {
      const task = (names) => tableTask("shop", { domain: own, declares: names, collection });
      const value = { people, orders: orders(1) };
      const client = await open(await task(wrong));
      await assert.rejects(client.answer(value), undeclared);
      await assert.rejects(client.resend(), BudgetError);
      assert.equal((await client.ledger.spent()).spent, 0);
      await answer(await task(right), value);
    }
});

test("what is public does not tell that another column was outside", async () => {
  const text = await tableTask("shop");
  for (const change of [{ age: 999 }, { home: null }, { age: {}, home: [] }]) {
    const value = { people: { ...ANN, ...change }, orders: orders(1) };
    for (const { publicText } of envelopesOf(await answer(text, value)))
      assert.equal(publicText, '{"people.area":"\\"north\\"","people.weight":"0.5"}');
  }
});

test("an impossible public value is replaced by a random one and never sent", async () => {
  const text = await tableTask("shop");
  for (const people of [{ ...ANN, area: "quagga" }, { ...ANN, age: 999, area: "quagga" }, null]) {
    const message = await answer(text, { people, orders: orders(1) });
    for (const { publicText } of envelopesOf(message)) {
      assert.match(publicText, /"people.area":"/);
      assert.doesNotMatch(publicText, /quagga/);
    }
  }
});

test("a column is mirrored or rounded, never both", async () => {
  const columns = { table: 0, columns: [0, 1], sizes: [3, 5], widths: [1, 1], most: 0 };
  const cell = { kind: "cell", ...columns, weighted: false, aligned: false };
  await load(cell);
  for (const coins of [
    { rounded: [], mirrored: [1] },
    { rounded: [1], mirrored: [] },
    { rounded: [0], mirrored: [1] },
    { rounded: [0, 1], mirrored: [] },
  ])
    readEncoding({ ...cell, ...coins });
  const twoCoins = { name: "ParameterError", message: /one rounding coin/ };
  for (const rounded of [[1], [0, 1]])
    assert.throws(() => readEncoding({ ...cell, rounded, mirrored: [1] }), twoCoins);
});

test("public columns fit into a message", async () => {
  const { domain } = parse(await tableTask("shop"));
  const [weight, area] = domain.public.attributes;
  await load(domain);
  const readWith = (label) => {
    const attributes = [weight, { ...area, labels: [label, "q"] }];
    return readDomain({ ...domain, public: { ...domain.public, attributes } });
  };
  const tooLong = { name: "ParameterError", message: /at most 4096 bytes/ };
  const room = 4096 - "people.weight".length - 34 - "people.area".length - 8 - '""'.length;
  for (const label of ["x".repeat(room), "é".repeat(room / 2), "\n".repeat(room / 2)]) {
    const value = { people: { ...ANN, area: label }, orders: [] };
    assert.ok(JSON.stringify(readWith(label).index(value).public).length > room / 2);
    assert.throws(() => readWith(`${label}x`), tooLong);
  }
});

test("public whole numbers are exact", async () => {
  const { domain } = parse(await tableTask("shop"));
  const [, area] = domain.public.attributes;
  await load([domain, { kind: "integers" }]);
  const readBetween = (low, high) => {
    const attributes = [{ kind: "integers", low, high }, area];
    return readDomain({ ...domain, public: { ...domain.public, attributes } });
  };
  const largest = Number.MAX_SAFE_INTEGER;
  const value = { people: { ...ANN, weight: -largest }, orders: [] };
  const publicText = readBetween(-largest, largest).index(value).public;
  assert.equal(JSON.parse(publicText)["people.weight"], -largest);
  const inexact = { name: "ParameterError", message: /between -2\^53 and 2\^53/ };
  for (const [low, high] of [
    [0, "9007199254740992"],
    ["-9007199254740992", 0],
    [`-${2n ** 62n}`, String(2n ** 61n)],
  ])
    assert.throws(() => readBetween(low, high), inexact);
  const tooLong = { name: "ParameterError", message: /at most 63 bits/ };
  assert.throws(() => readBetween(0, String(2n ** 70n)), tooLong);
});

test("every layer is asked, and cells beyond 2^53 have reports too", async () => {
  const document = await tableTask("pair");
  const members = new Set();
  for (let user = 0; user < 250; user++) {
    const message = Buffer.from(await answer(document, { a: 999, b: user }));
    members.add(message.readUInt32LE(8));
    assert.equal(message.length, 44 + 16 + WIDTH);
  }
  assert.equal(members.size, 12); // one of the layers is missing with a chance below 1e-8
  const large = await answer(await tableTask("vast"), { a: 2 ** 29 - 1, b: 0 });
  assert.equal(large.length, 44 + 16 + WIDTH);
});

test("questions about tables that the domain does not have are refused", async () => {
  const { domain } = parse(await tableTask("shop"));
  const [people, list] = domain.tables;
  const age = { kind: "integers", low: -2, high: 10 };
  const wider = { ...people, attributes: [age, people.attributes[1]] };
  const valueFor = (table) => {
    if (table.kind === "lists") return [];
    return table.names.length === 1 ? { price: 1 } : { age: 1, home: "flat" };
  };
  for (const tables of [
    [list, people],
    [wider, list],
    [people, { ...list, most: 4 }],
    [people, list.records],
  ]) {
    const changed = { kind: "services", names: domain.names, tables };
    const client = await open(
      await tableTask("shop", { domain: changed, declares: ["subject"] }),
    );
    const [first, second] = tables.map(valueFor);
    await assert.rejects(client.answer({ people: first, orders: second }), ParameterError);
    assert.equal((await client.ledger.spent()).spent, 0);
  }
});

test("a task whose layers and mechanisms do not fit is refused when it is read", async () => {
  const document = await tableTask("orders");
  const { ask } = parse(document).opening;
  const { mechanisms } = ask.members;
  for (const change of [
    { mechanisms: mechanisms.slice(1) },
    { mechanisms: [...mechanisms, mechanisms[0]] },
    { sizes: [26] },
  ]) {
    const members = { ...ask.members, ...change };
    const opening = roundOf(document, 0, { ask: { ...ask, members } });
    await assert.rejects(open(await tableTask("orders", { opening })), ParameterError);
  }
});

test("too many layers are refused at once", async () => {
  for (const columnCount of [18, 64, 2000]) {
    const each = (value) => Array(columnCount).fill(value);
    const columns = { columns: [...each(0).keys()], sizes: each(2), widths: each([2, 1]) };
    const rounding = { rounding: "none", groups: [], first: 0 };
    const family = { kind: "layers", table: 0, ...columns, mechanisms: [], most: 0, ...rounding };
    await load(family);
    assert.throws(() => readFamily(family), ParameterError);
  }
});

test("in a rehearsal records, lists and public columns are drawn at random", async () => {
  const document = await tableTask("shop", { collection: { ...COLLECTION, sandbox: true } });
  const publicTexts = new Set();
  for (let user = 0; user < 60; user++) {
    const client = await open(document);
    const message = await client.answer({ people: ANN, orders: [] });
    for (const { publicText } of envelopesOf(message)) publicTexts.add(publicText);
  }
  assert.ok(publicTexts.size > 5 && publicTexts.size <= 10, "two labels and five points");
  const domain = readDomain(parse(document).domain);
  for (const publicText of publicTexts) {
    const { "people.area": area, "people.weight": weight } = JSON.parse(publicText);
    const value = { people: { ...ANN, area, weight: Number(weight) }, orders: [] };
    assert.equal(domain.index(value).public, publicText);
  }
});
