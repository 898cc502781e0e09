import assert from "node:assert/strict";
import test from "node:test";

import { BudgetError, Client, Device, MemoryLedger, MismatchError } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { reportOf, startPair } from "../support/collector.js";
import { browserTask, COLLECTION, digestOf, tableTask, whereTask } from "../support/tasks.js";

const categories = (...labels) => ({ kind: "categories", labels, declinable: false });
const BROWSERS = categories("other", "safari", "firefox", "chrome");
const PUBLIC = ["people.weight", "people.area"];
const SHOPPER = {
  people: { age: 3, home: "house", weight: 0.5, area: '"north"' },
  orders: [{ price: 1 }],
};

/** Returns another task of the same name: same question, other description. */
function nextTask(number, changes = {}) {
  return browserTask({ description: `Question number ${number}.`, ...changes });
}

test("an app that states its domain is asked for no other", async () => {
  const { labels, declinable } = parse(await browserTask()).domain;
  const accepts = { domain: { labels, kind: "categories", declinable } };
  await (await Client.open(await browserTask(), new MemoryLedger(), { accepts })).answer("firefox");
  const ledger = new MemoryLedger();
  const other = await Client.open(await browserTask({ domain: BROWSERS }), ledger, { accepts });
  const refusal = { name: "MismatchError", message: /asks for another domain/ };
  await assert.rejects(other.answer("firefox"), refusal);
  assert.equal((await ledger.spent()).spent, 0);
});

test("an app states the price, the plans and the digest that it accepts", async () => {
  const document = await browserTask();
  const { plan } = parse(document);
  const cases = [
    [{ epsilon: 1 }, true],
    [{ epsilon: 0.999 }, false],
    [{ plans: [plan.kind] }, true],
    [{ plans: ["marginals", plan.kind] }, true],
    [{ plans: ["marginals"] }, false],
    [{ plans: [] }, false],
    [{ digest: digestOf(document) }, true],
    [{ digest: digestOf(await nextTask(1)) }, false],
  ];
  for (const [accepts, isAccepted] of cases) {
    const client = await Client.open(document, new MemoryLedger(), { accepts });
    assert.equal(client.notice.plan, plan.kind);
    if (isAccepted) await client.answer("firefox");
    else await assert.rejects(client.answer("firefox"), MismatchError, JSON.stringify(accepts));
  }
});

test("impossible statements of an app are refused", async () => {
  const document = await browserTask();
  const url = "https://collector.example";
  for (const accepts of [
    { domain: "browser" },
    { domain: { kind: "integers", low: 0.5, high: 7 } },
    { epsilon: 0 },
    { epsilon: NaN },
    { epsilon: 21 },
    { public: "people.weight" },
    { public: [1] },
    { plans: "histogram" },
    { digest: 7 },
    { domains: [] },
  ]) {
    const refusal = { name: "ParameterError" };
    const ledger = new MemoryLedger();
    await assert.rejects(Client.open(document, ledger, { accepts }), refusal);
    assert.throws(() => new Device(url, { ledger, accepts: { browser: accepts } }), refusal);
  }
});

test("no column leaves in clear that the app has not named", async (t) => {
  const document = await tableTask("shop");
  for (const [columns, missing] of [
    [undefined, "people.weight"],
    [[], "people.weight"],
    [["people.weight"], "people.area"],
    [["people.area", "orders.price"], "people.weight"],
  ]) {
    const digest = digestOf(document); // a digest states everything but this
    for (const accepts of [{ public: columns }, { public: columns, digest }]) {
      if (columns === undefined) delete accepts.public;
      const { collector, device, ledger } = await startPair(t, [document], {
        accepts: { shop: accepts },
      });
      const message = new RegExp(`sends the column '${missing}' in clear`);
      await assert.rejects(device.answer("shop", SHOPPER), { name: "MismatchError", message });
      assert.equal(collector.posts.length, 0);
      assert.equal((await ledger.spent()).spent, 0);
      await device.agree(await device.notice("shop")); // what the owner agrees to is not this
      await assert.rejects(device.answer("shop", SHOPPER), { name: "MismatchError", message });
    }
  }
  const { collector, device } = await startPair(t, [document], {
    accepts: { shop: { public: PUBLIC } },
  });
  await device.answer("shop", SHOPPER);
  assert.ok(reportOf(collector.posts[0]).includes("people.area"));
});

test("what the app leaves open must stay what it was at the first use", async () => {
  const ledger = new MemoryLedger({ cap: 20 });
  const open = async (document, accepts = {}) => Client.open(document, ledger, { accepts });
  await (await open(await browserTask())).answer("firefox");
  await (await open(await nextTask(1))).answer("firefox"); // another document, the same meaning
  const changes = {
    domain: { domain: BROWSERS },
    epsilon: { epsilon: "2.0" },
    declares: { declares: ["subject"] },
    distinct: { distinct: 1 },
  };
  for (const [field, change] of Object.entries(changes)) {
    const client = await open(await nextTask(2, change));
    const before = await ledger.spent();
    await assert.rejects(client.answer("firefox"), {
      name: "MismatchError",
      message:
        "the task 'browser' asks for something else than when this device first answered it: " +
        `\`${field}\` has changed; call agree() if the app or the owner agrees`,
    });
    assert.deepEqual(await ledger.spent(), before);
  }
  await (await open(await browserTask({ name: "other", domain: BROWSERS }))).answer("firefox");
});

test("what the app states may change", async () => {
  const ledger = new MemoryLedger({ cap: 20 });
  const answer = async (document, accepts) =>
    (await Client.open(document, ledger, { accepts })).answer("firefox");
  await answer(await browserTask());
  const widened = await nextTask(1, { domain: BROWSERS, epsilon: "2.0" });
  await assert.rejects(answer(widened, { domain: BROWSERS }), /`epsilon` has changed/);
  await assert.rejects(answer(widened, { epsilon: 2 }), /`domain` has changed/);
  await answer(widened, { domain: BROWSERS, epsilon: 2 });
  const pinned = await nextTask(2, { domain: BROWSERS, declares: ["subject"], distinct: 1 });
  await answer(pinned, { digest: digestOf(pinned) });
});

test("an agreement is for the notice that was shown", async (t) => {
  const { collector, device } = await startPair(t, [await browserTask()], {});
  await device.answer("browser", "firefox");
  collector.tasks.set("browser", await nextTask(1, { domain: BROWSERS }));
  await assert.rejects(device.answer("browser", "firefox"), /`domain` has changed/);
  const notice = await device.notice("browser");
  assert.match(await device.explain(notice), /one of 4 possible answers/);
  const looking = "looking agrees to nothing";
  await assert.rejects(device.answer("browser", "firefox"), MismatchError, looking);
  // Between the look and the agreement the collector offers something else.
  collector.tasks.set("browser", await nextTask(2, { domain: categories("a", "b", "c", "d") }));
  await device.agree(notice);
  await assert.rejects(device.answer("browser", "firefox"), /`domain` has changed/);
  collector.tasks.set("browser", await nextTask(3, { domain: BROWSERS }));
  await device.answer("browser", "firefox");
});

test("a client agrees to its own task", async () => {
  const ledger = new MemoryLedger();
  await (await Client.open(await browserTask(), ledger)).answer("firefox");
  const changed = await Client.open(await nextTask(1, { domain: BROWSERS }), ledger);
  await assert.rejects(changed.answer("firefox"), MismatchError);
  await changed.agree();
  await changed.answer("firefox");
});

test("collectors do not decide what a name means at another collector", async (t) => {
  const ledger = new MemoryLedger();
  const first = await startPair(t, [await browserTask()], { ledger });
  const second = await startPair(t, [await nextTask(1, { domain: BROWSERS })], { ledger });
  await first.device.answer("browser", "firefox");
  await second.device.answer("browser", "firefox");
  assert.equal(second.collector.posts.length, 1);
});

test("a refused answer and a look are no first use", async () => {
  const ledger = new MemoryLedger({ cap: 1 });
  const dear = await Client.open(await browserTask({ epsilon: "2.0" }), ledger);
  await dear.explain();
  await assert.rejects(dear.answer("firefox"), BudgetError);
  await (await Client.open(await browserTask(), ledger)).answer("firefox");
  await ledger.update((file) => assert.equal(file.meanings.length, 1));
});

test("the ledger remembers a meaning in a few bytes, and no label", async () => {
  const labels = Array.from({ length: 4 }, (_, i) => `${i}`.repeat(100_000));
  const ledger = new MemoryLedger();
  const document = await browserTask({ domain: categories(...labels) });
  await (await Client.open(document, ledger)).answer("firefox");
  const text = await ledger.update((file) => JSON.stringify(file.meanings));
  assert.ok(text.length < 200, text);
});

test("a search over smaller and smaller domains learns nothing from silence", async (t) => {
  const values = Array.from({ length: 8 }, (_, i) => `value ${i}`);
  const halves = [values.slice(0, 4), values.slice(0, 2), values.slice(0, 1)];
  const search = async (held, nameOf) => {
    const { collector, device, ledger } = await startPair(t, [], {});
    const trace = [];
    for (const [step, half] of halves.entries()) {
      const others = Array.from({ length: 4 - half.length }, (_, i) => `nothing ${i}`);
      const name = nameOf(step);
      const changes = { name, domain: categories(...half, ...others) };
      collector.tasks.set(name, await browserTask(changes));
      const outcome = await device.answer(name, held).then(
        (message) => `a message of ${message.length} bytes`,
        (error) => `${error.name}: ${error.message}`,
      );
      trace.push(outcome, collector.posts.length, (await ledger.spent()).spent);
    }
    return trace;
  };
  for (const nameOf of [() => "browser", (step) => `browser ${step}`]) {
    const traces = await Promise.all(values.map((held) => search(held, nameOf)));
    for (const trace of traces) assert.deepEqual(trace, traces[0]);
    assert.match(traces[0][0], /45 bytes/);
  }
  const [, posts, spent] = (await search(values[0], () => "browser")).slice(-3);
  assert.deepEqual([posts, spent], [1, 1], "under one name one report is all");
});

test("a rehearsal is no way around: its meaning is remembered as well", async () => {
  const ledger = new MemoryLedger();
  const collection = { ...COLLECTION, sandbox: true };
  await (await Client.open(await browserTask({ collection }), ledger)).answer("firefox");
  const changed = await Client.open(await nextTask(1, { domain: BROWSERS }), ledger);
  await assert.rejects(changed.answer("firefox"), /`domain` has changed/);
});

test("later rounds of a longitudinal task keep its meaning", async () => {
  const ledger = new MemoryLedger();
  const document = await whereTask();
  const client = await Client.open(document, ledger);
  await client.answer("home");
  const next = await client.round({ ...parse(document).opening, number: 1 });
  await client.answer("home", next);
  await ledger.update((file) => assert.equal(file.meanings.length, 1));
});
