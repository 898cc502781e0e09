import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

import {
  AccessError,
  BudgetError,
  Client,
  CodecError,
  DomainError,
  MemoryLedger,
  MismatchError,
  ParameterError,
} from "../dist/index.js";
import { hex } from "../dist/bytes.js";
import { enrolledBytes, roundCoin } from "../dist/core/coin.js";
import { load, readDomain, readEncoding, readMechanism } from "../dist/core/registry.js";
import { RecordedRng } from "../support/recorded_rng.js";
import { browserTask, COLLECTION, digestOf, roundOf, whereTask } from "../support/tasks.js";

test("a device answers once, and repeats the same bytes", async () => {
  const ledger = new MemoryLedger();
  const client = await Client.open(await browserTask(), ledger);
  const sent = await client.answer("firefox");
  await assert.rejects(client.answer("firefox"), BudgetError);
  assert.deepEqual(await client.resend(), sent);
  assert.deepEqual(await ledger.spent(), { spent: 1, cap: 10 });
});

test("a value outside the domain costs nothing and is never named", async () => {
  const ledger = new MemoryLedger();
  const client = await Client.open(await browserTask(), ledger);
  for (const value of ["konqueror", 1, null, undefined, {}, ["firefox"]]) {
    await assert.rejects(
      client.answer(value),
      (error) => error instanceof DomainError && !/konqueror/.test(error.stack),
    );
  }
  assert.equal((await ledger.spent()).spent, 0);
  await client.answer("firefox");
});

test("the cap holds across tasks, and a refused answer leaves no trace", async () => {
  const ledger = new MemoryLedger({ cap: 2.5 });
  for (const name of ["a", "b"]) await (await Client.open(await browserTask({ name }), ledger)).answer("safari");
  const third = await Client.open(await browserTask({ name: "c" }), ledger);
  await assert.rejects(third.answer("safari"), /cap of 2.5 only 0.5 is left/);
  await assert.rejects(third.resend(), BudgetError);
  assert.deepEqual(
    (await ledger.entries()).map((charge) => [charge.name, charge.epsilon]),
    [
      ["a", "1.0"],
      ["b", "1.0"],
    ],
  );
});

test("a window holds, slides, and a clock set back refills nothing", async () => {
  let time = 1000;
  const ledger = new MemoryLedger({ windows: [{ seconds: 60, epsilon: 2, reports: 5 }], clock: () => time });
  const answer = async (name) => (await Client.open(await browserTask({ name }), ledger)).answer("safari");
  await answer("a");
  time = 1030;
  await answer("b");
  await assert.rejects(answer("c"), /within 60 seconds/);
  time = 10; // before both charges: they are still recent
  await assert.rejects(answer("c"), BudgetError);
  time = 1060;
  await answer("c");
  await assert.rejects(answer("d"), BudgetError);
});

test("a cap is never changed afterwards, and impossible limits are refused", async () => {
  for (const limits of [
    { cap: -1 },
    { cap: NaN },
    { cap: Infinity },
    { windows: [{ seconds: 0, epsilon: 1, reports: 1 }] },
  ]) {
    await assert.rejects(new MemoryLedger(limits).spent(), ParameterError);
  }
  const ledger = new MemoryLedger({ cap: 3 });
  await ledger.spent();
  ledger.options.cap = 30;
  await assert.rejects(ledger.spent(), ParameterError);
});

test("opting out erases, refuses and refunds nothing", async () => {
  const ledger = new MemoryLedger();
  const [one, other] = [await Client.open(await browserTask(), ledger), await Client.open(await whereTask(), ledger)];
  await one.answer("firefox");
  await other.answer("home");
  await ledger.optOut(one.notice.digest);
  await assert.rejects(one.resend(), BudgetError);
  await other.resend();
  await ledger.optOut();
  await assert.rejects(other.answer("home", await other.round(roundOf(await whereTask(), 1))), /opted out/);
  assert.equal((await ledger.spent()).spent, 5);
  await ledger.update((file) => assert.deepEqual([file.tasks, file.outbox], [{}, []]));
});

test("a device outside a round's share is not asked and keeps its coin", async () => {
  const ledger = new MemoryLedger();
  const client = await Client.open(await browserTask(), ledger);
  const coin = await client.coin();
  const [low, high] = coin < 1n << 63n ? [1n << 63n, 1n << 64n] : [0n, 1n << 63n];
  const share = { low: low ? String(low) : 0, high: String(high) };
  const others = await client.round(roundOf(await browserTask(), 1, share));
  await assert.rejects(
    client.answer("firefox", others),
    (error) => error instanceof MismatchError && /not asked in this round/.test(error.message),
  );
  assert.equal(await client.coin(), coin);
  assert.equal((await ledger.spent()).spent, 0);
});

test("an enrolled device's coin follows from its token", async () => {
  const document = await browserTask({ collection: { ...COLLECTION, enrolment: true } });
  const ledger = new MemoryLedger();
  await assert.rejects((await Client.open(document, ledger)).answer("firefox"), AccessError);
  const client = await Client.open(document, ledger, "token");
  const digest = digestOf(document);
  assert.equal(await client.coin(), roundCoin(enrolledBytes("token", digest), digest));
  await client.answer("firefox");
  await assert.rejects((await Client.open(document, ledger, "another")).coin(), MismatchError);
  const open = await Client.open(await browserTask(), new MemoryLedger(), "token");
  assert.equal(open.token, undefined, "a task without enrolment does not get to see the token");
});

test("a rehearsal checks the value, never uses it and charges nothing", async () => {
  const document = await browserTask({ collection: { ...COLLECTION, sandbox: true } });
  const ledger = new MemoryLedger({ cap: 0 });
  await assert.rejects((await Client.open(document, ledger)).answer("konqueror"), DomainError);
  await (await Client.open(document, ledger)).answer("firefox");
  await assert.rejects((await Client.open(document, ledger)).answer("firefox"), BudgetError);
  assert.deepEqual(await ledger.entries(), []);
});

test("in a rehearsal every answer comes equally often, and otherwise the true one more often", async () => {
  // Of 2,000 answers at epsilon 1 the true one comes 951 times, in a rehearsal 500 times; 5 sigma are less than 115.
  const counted = async (changes) => {
    const client = await Client.open(await browserTask(changes), new MemoryLedger());
    const counts = [0, 0, 0, 0];
    for (let user = 0; user < 2000; user++) {
      await client.ledger.update((file) => {
        counts[client.respond(file, "firefox", client.notice.opening).at(-1)]++;
        Object.assign(file, { tasks: {}, charges: [] }); // as if it were another device's
      });
    }
    return counts;
  };
  const rehearsed = await counted({ collection: { ...COLLECTION, sandbox: true } });
  assert.ok(
    rehearsed.every((count) => Math.abs(count - 500) < 115),
    String(rehearsed),
  );
  const answered = await counted({});
  assert.ok(Math.abs(answered[1] - 951) < 115, String(answered));
});

test("a longitudinal task is paid once and answered once a round, from memory", async () => {
  const document = await whereTask();
  const ledger = new MemoryLedger();
  const client = await Client.open(document, ledger);
  const round = (number) => client.round(roundOf(document, number));
  await client.answer("home");
  await assert.rejects(client.answer("home"), BudgetError);
  for (const [number, value] of ["home", "office", "road", "home", "nowhere"].entries())
    await client.answer(value, await round(number + 1));
  assert.equal((await ledger.spent()).spent, 4);
  await ledger.update((file) => {
    const { responses, messages } = file.tasks[client.notice.digest];
    assert.equal(responses[0].length, 2, "home and office are remembered, road and nowhere repeat the last one");
    assert.equal(Object.keys(messages).length, 6);
    assert.ok(!/home|office|road|nowhere/.test(JSON.stringify(file)), "no value is written down");
  });
  const other = await client.round(roundOf(document, 9, { low: 5 }));
  assert.equal(other.number, 9);
  await assert.rejects(client.round(roundOf(await browserTask(), 9)), MismatchError);
});

test("every value of a mechanism draws as many bytes and sends as many", async () => {
  const { reports } = JSON.parse(await readFile(new URL("../../../tests/golden/perturb.json", import.meta.url)));
  const kinds = new Set();
  for (const { mechanism: content } of reports.filter((row) => row.mechanism.size <= 64)) {
    await load(content);
    const mechanism = readMechanism(content);
    const recording = new Uint8Array(1 << 16).map((_, i) => (i * 2654435761) >>> 24);
    const seen = new Set();
    for (let index = 0; index < mechanism.size; index++) {
      const rng = new RecordedRng(recording);
      const sent = mechanism.instantaneous(mechanism.permanent(index, rng), rng);
      seen.add(`${rng.consumed} bytes drawn, ${sent.length} sent`);
    }
    assert.equal(seen.size, 1, `${mechanism.kind}: ${[...seen]}`);
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
  for (const [changes, expected] of refused) {
    await assert.rejects(
      Client.open(await browserTask(changes), new MemoryLedger()),
      expected,
      JSON.stringify(changes),
    );
  }
  await Client.open(await browserTask({ collection: COLLECTION, distinct: 1 }), new MemoryLedger());
});

test("a mechanism is read as nothing else, whatever was loaded before", async () => {
  await load([{ kind: "grr" }, { kind: "categories" }, { kind: "attribute" }, { kind: "subset" }]);
  for (const kind of ["attribute", "categories", "read", "bits", "toString"])
    assert.throws(() => readMechanism({ kind }), ParameterError);
  for (const kind of ["grr", "categories"]) assert.throws(() => readEncoding({ kind }), ParameterError);
  for (const kind of ["grr", "attribute"]) assert.throws(() => readDomain({ kind }), ParameterError);
});

test("reports have identities of their own", async () => {
  const ids = new Set();
  for (let user = 0; user < 50; user++) {
    const message = await (await Client.open(await browserTask(), new MemoryLedger())).answer("firefox");
    ids.add(hex(message.subarray(28, 44)));
  }
  assert.equal(ids.size, 50);
});
