import assert from "node:assert/strict";
import test, { afterEach } from "node:test";

import { BudgetError, Client, Device, DomainError, MemoryLedger, ParameterError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { load, readDomain, readEncoding, readFamily } from "../dist/core/registry.js";
import { collector } from "../support/collector.js";
import { COLLECTION, roundOf, tableTask } from "../support/tasks.js";

const ANN = { age: 3, home: "house", weight: 0.5, area: '"north"' };
const orders = (count) => Array.from({ length: count }, (_, place) => ({ price: place % 25 }));
const open = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** The envelopes of a message: subject, slot, and what stands between them and the payload. */
function envelopes(message, width) {
  const bytes = Buffer.from(message);
  const found = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at + 4)) {
    const one = bytes.subarray(at, at + bytes.readUInt32LE(at + 4));
    const [subject, slot] = [one.toString("hex", 44, 60), one.readUInt16LE(60)];
    found.push({ flags: one[1], subject, slot, shown: one.toString("utf8", 62, one.length - width) });
  }
  return found;
}

async function answer(document, value) {
  return (await Client.open(document, new MemoryLedger())).answer(value);
}

test("a device answers every table at once, and only what is public is as it was", async () => {
  const document = await tableTask("shop");
  const server = await collector(document);
  const device = new Device(server.url, { delay: 0, ledger: new MemoryLedger() });
  open.push(server, device);
  await device.answer("shop", { people: ANN, orders: orders(2) });
  const sent = envelopes(Buffer.from(server.posts.at(-1).reports[0], "base64"), 10);
  assert.deepEqual(
    sent.map(({ slot }) => slot),
    [0, 1, 2],
  );
  assert.equal(new Set(sent.map(({ subject }) => subject)).size, 1);
  for (const { flags, shown } of sent)
    assert.deepEqual([flags, shown], [7, '{"people.area":"\\"north\\"","people.weight":"0.5"}']);
  assert.equal((await device.ledger.spent()).spent, 3);
});

test("how much somebody holds shows in neither the number nor the length of reports", async () => {
  const document = await tableTask("shop");
  const lengths = new Set();
  for (const held of [0, 1, 3, 4, 500])
    for (const age of [-2, 9]) {
      const message = await answer(document, { people: { ...ANN, age }, orders: orders(held) });
      lengths.add(`${message.length} in ${envelopes(message, 10).length}`);
    }
  assert.equal(lengths.size, 1);
  const lists = await tableTask("orders");
  const alone = await Promise.all([0, 1, 3, 1000].map((held) => answer(lists, orders(held))));
  assert.equal(new Set(alone.map(({ length }) => length)).size, 1);
});

test("values that are none are refused by their rule and cost nothing", async () => {
  const client = await Client.open(await tableTask("shop"), new MemoryLedger());
  const holes = [];
  holes[2] = { price: 1 };
  for (const people of [
    ...[{ age: 1.5 }, { age: NaN }, { age: [1] }, { age: "1" }, { age: 10n }, { age: undefined }, { more: 1 }],
    ...[{ age: [[5]] }, { age: [] }, { home: [["flat"]] }, { weight: [[0.5]] }, { area: ['"north"'] }],
    ...[{ home: "castle" }, { home: ["flat"] }, { weight: NaN }, { weight: [1] }, { weight: 1n }, { area: "west" }],
  ])
    await assert.rejects(client.answer({ people: { ...ANN, ...people }, orders: [] }), refusal);
  const lists = [null, undefined, {}, "[]", new Map(), holes];
  const entries = [[{ price: 1 }], { price: [1] }, { price: NaN }, [], { price: 1, uid: 1 }];
  for (const held of [...lists, ...entries.map((one) => [one])])
    await assert.rejects(client.answer({ people: ANN, orders: held }), refusal);
  for (const value of [ANN, [], [ANN, []], { people: ANN }, { people: ANN, orders: [], uid: 1 }, null, "shop"])
    await assert.rejects(client.answer(value), refusal);
  assert.equal((await client.ledger.spent()).spent, 0);
});

function refusal(error) {
  return error instanceof DomainError && /^a value must be /.test(error.message) && !/castle|west/.test(error.message);
}

test("a public part that is not declared, or is missing, is refused and costs nothing", async () => {
  const { domain, declares } = parse(await tableTask("shop"));
  const { public: _, ...closed } = domain;
  const { age, home } = ANN;
  for (const collection of [COLLECTION, { ...COLLECTION, sandbox: true }])
    for (const [changes, people, other] of [
      [{ domain, declares: ["subject"] }, ANN, declares],
      [{ domain: closed, declares }, { age, home }, ["subject"]],
    ]) {
      const client = await Client.open(await tableTask("shop", { ...changes, collection }), new MemoryLedger());
      const value = { people, orders: orders(1) };
      const undeclared = { name: "MismatchError", message: /must declare `public` if, and only if, it has public columns/ };
      await assert.rejects(client.answer(value), undeclared);
      await assert.rejects(client.resend(), BudgetError);
      assert.equal((await client.ledger.spent()).spent, 0);
      await answer(await tableTask("shop", { ...changes, collection, declares: other }), value); // declared rightly
    }
});

test("a column is mirrored or rounded, never both", async () => {
  const shape = { kind: "cell", table: 0, columns: [0, 1], sizes: [3, 5], widths: [1, 1], most: 0 };
  const read = (rounded, mirrored) =>
    readEncoding({ ...shape, rounded, mirrored, weighted: false, aligned: false }) && "read";
  await load(shape);
  for (const coins of [[[], [1]], [[1], []], [[0], [1]], [[0, 1], []]]) assert.equal(read(...coins), "read");
  for (const rounded of [[1], [0, 1]])
    assert.throws(() => read(rounded, [1]), { name: "ParameterError", message: /one rounding coin/ });
});

test("what is public fits into a message, and its whole numbers are exact", async () => {
  const { domain } = parse(await tableTask("shop"));
  const [weight, area] = domain.public.attributes;
  const read = (attributes) => readDomain({ ...domain, public: { ...domain.public, attributes } });
  await load([domain, { kind: "integers" }]);
  const room = 4096 - "people.weight".length - 34 - "people.area".length - 8 - '""'.length;
  for (const label of ["x".repeat(room), "é".repeat(room / 2), "\n".repeat(room / 2)]) {
    const widest = (text) => read([weight, { ...area, labels: [text, "q"] }]);
    const text = JSON.stringify(widest(label).index({ people: { ...ANN, area: label }, orders: [] }).public);
    assert.ok(text.length > room / 2);
    assert.throws(() => widest(`${label}x`), { name: "ParameterError", message: /at most 4096 bytes/ });
  }
  const exact = Number.MAX_SAFE_INTEGER;
  const born = (low, high) => read([{ kind: "integers", low, high }, area]);
  const told = born(-exact, exact).index({ people: { ...ANN, weight: -exact }, orders: [] }).public;
  assert.equal(JSON.parse(told)["people.weight"], -exact);
  for (const ends of [[0, "9007199254740992"], ["-9007199254740992", 0], [`-${2n ** 70n}`, String(2n ** 70n)]])
    assert.throws(() => born(...ends), { name: "ParameterError", message: /between -2\^53 and 2\^53/ });
});

test("every layer is asked, and cells beyond 2^53 have reports too", async () => {
  const members = new Set();
  for (let user = 0; user < 250; user++) {
    const message = Buffer.from(await answer(await tableTask("pair"), { a: 999, b: user }));
    members.add(message.readUInt32LE(8));
    assert.equal(message.length, 44 + 16 + 10);
  }
  assert.equal(members.size, 12); // one of them is missing with a chance below 1e-8
  assert.equal((await answer(await tableTask("vast"), { a: 2 ** 29 - 1, b: 0 })).length, 70);
});

test("questions about tables that the domain does not have are refused and cost nothing", async () => {
  const { domain } = parse(await tableTask("shop"));
  const [people, list] = domain.tables;
  const wider = { ...people, attributes: [{ kind: "integers", low: -2, high: 10 }, people.attributes[1]] };
  for (const tables of [
    [list, people],
    [wider, list],
    [people, { ...list, most: 4 }],
    [people, list.records],
  ]) {
    const changed = { kind: "services", names: domain.names, tables };
    const client = await Client.open(await tableTask("shop", { domain: changed }), new MemoryLedger());
    const record = ({ names }) => (names.length === 1 ? { price: 1 } : { age: 1, home: "flat" });
    const [first, second] = tables.map((table) => (table.kind === "lists" ? [] : record(table)));
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
    const opening = roundOf(document, 0, { ask: { ...ask, members: { ...ask.members, ...change } } });
    await assert.rejects(Client.open(await tableTask("orders", { opening }), new MemoryLedger()), ParameterError);
  }
});

test("more layers than there may be are refused at once", async () => {
  for (const columns of [18, 64, 2000]) {
    const each = (value) => Array(columns).fill(value);
    const shape = { kind: "layers", table: 0, columns: [...each(0).keys()], sizes: each(2), widths: each([2, 1]) };
    const family = { ...shape, mechanisms: [], most: 0, rounding: "none", groups: [], first: 0 };
    await load(family);
    assert.throws(() => readFamily(family), ParameterError);
  }
});

test("in a rehearsal records, lists and what is public are drawn at random", async () => {
  const document = await tableTask("shop", { collection: { ...COLLECTION, sandbox: true } });
  const seen = new Set();
  for (let user = 0; user < 60; user++) {
    const client = await Client.open(document, new MemoryLedger({ cap: 0 }));
    for (const { shown } of envelopes(await client.answer({ people: ANN, orders: [] }), 10)) seen.add(shown);
  }
  const { domain: content } = parse(document);
  const domain = readDomain(content);
  assert.ok(seen.size > 5 && seen.size <= 10, "two labels and five points");
  for (const shown of seen) {
    const { "people.area": area, "people.weight": weight } = JSON.parse(shown);
    const held = domain.index({ people: { ...ANN, area, weight: Number(weight) }, orders: [] });
    assert.equal(held.public, shown);
  }
});
