import assert from "node:assert/strict";
import test from "node:test";

import { DirectRoute, ShuffledRoute } from "../dist/client/route.js";
import { Device, MemoryLedger, UnavailableError } from "../dist/node.js";
import { reportOf, startPair } from "../support/collector.js";
import { browserTask } from "../support/tasks.js";

const REPORT = {
  name: "browser",
  task: "digest",
  round: 3,
  message: "00ff",
  token: "mine",
  fingerprint: "A".repeat(43),
};

/** A route by way of somebody else, who keeps what comes in. */
class Relay {
  url = "https://relay.example";
  carried = [];
  receipt = "sent";
  error = undefined;

  async send(report) {
    if (this.error) throw this.error;
    this.carried.push(report);
    return this.receipt;
  }
}

/** Answers like a server, and keeps the requests. */
function recordFetches(t) {
  const requests = [];
  const receipt = { accepted: 1, duplicates: 0, refused: [] };
  t.mock.method(globalThis, "fetch", async (url, { body }) => {
    requests.push({ url, body: JSON.parse(body) });
    return new Response(JSON.stringify(receipt));
  });
  return requests;
}

test("the direct route posts to the collector, the shuffled one to a shuffler", async (t) => {
  const requests = recordFetches(t);
  const address = { url: "https://server.example", timeout: 1 };
  for (const route of [new DirectRoute(address), new ShuffledRoute(address)]) {
    assert.equal(route.url, address.url);
    assert.equal(await route.send({ ...REPORT, url: address.url }), "sent");
  }
  const [direct, shuffled] = requests;
  assert.equal(direct.url, "https://server.example/v1/tasks/browser/reports");
  assert.deepEqual(direct.body, { reports: ["AP8="], tokens: ["mine"] });
  const path = `/v1/tasks/${REPORT.fingerprint}/rounds/3/messages`;
  assert.equal(shuffled.url, `https://server.example${path}`);
  assert.deepEqual(shuffled.body, { reports: ["AP8="] }, "no token goes beside the message");
});

test("a device fetches from the collector and sends by its route", async (t) => {
  const route = new Relay();
  const { collector, device } = await startPair(t, [await browserTask()], { route });
  const message = await device.answer("browser", "firefox");
  assert.deepEqual(collector.posts, []);
  assert.equal(route.carried.length, 1);
  assert.equal(route.carried[0].message, Buffer.from(message).toString("hex"));
  assert.equal(route.carried[0].url, route.url);
  assert.deepEqual(await device.waiting(), []);
});

test("a message leaves by the route it was made for", async (t) => {
  const route = new Relay();
  const options = { route, delay: 1000 };
  const { collector, device, ledger } = await startPair(t, [await browserTask()], options);
  const message = await device.answer("browser", "firefox");
  const direct = new Device(collector.url, { ledger, delay: 0 });
  assert.deepEqual(await direct.flush({ force: true }), { sent: 0, refused: 0, waiting: 0 });
  direct.close();
  assert.deepEqual(collector.posts, []);
  assert.deepEqual(await device.flush({ force: true }), { sent: 1, refused: 0, waiting: 0 });
  assert.equal(route.carried[0].message, Buffer.from(message).toString("hex"));
});

test("a route that is closed, fails or refuses is treated as a collector is", async (t) => {
  const route = new Relay();
  const { device, ledger } = await startPair(t, [await browserTask()], { route });
  route.error = new UnavailableError("closed");
  await device.answer("browser", "firefox");
  assert.equal((await device.waiting())[0].reason, "unreachable");
  route.error = new TypeError("a page of a stranger");
  assert.deepEqual(await device.flush({ force: true }), { sent: 0, refused: 0, waiting: 1 });
  assert.equal((await device.waiting())[0].reason, "unexpected");
  route.error = undefined;
  route.receipt = { refused: "too-late" };
  assert.deepEqual(await device.flush({ force: true }), { sent: 0, refused: 1, waiting: 0 });
  assert.equal((await ledger.refusals())[0].code, "too-late");
});

test("without a route a message goes to the collector", async (t) => {
  const ledger = new MemoryLedger();
  const { collector, device } = await startPair(t, [await browserTask()], { ledger });
  const message = await device.answer("browser", "firefox");
  assert.deepEqual(collector.posts.map(reportOf), [Buffer.from(message)]);
});
