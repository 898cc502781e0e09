import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";

import { Device, MemoryLedger } from "../dist/node.js";
import { startPair } from "../support/collector.js";
import { browserTask } from "../support/tasks.js";

/** Returns the address of a server that answers every request with `serve`. */
async function startServer(t, serve) {
  const server = createServer(serve);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

function deviceFor(url, options = {}) {
  return new Device(url, { ledger: new MemoryLedger(), delay: 0, ...options });
}

test("an address that others could listen to is refused", () => {
  const rule = { name: "ParameterError", message: /^`(url|witnesses)` must / };
  const open = [
    "http://collector.example",
    "http://10.0.0.1",
    "http://127.0.0.1.example",
    "http://localhost.example",
    "http://[::2]",
    "http://0.0.0.0",
    "ftp://collector.example",
    "file:///etc/passwd",
    "collector.example",
    "https://user:password@collector.example",
    "https://collector.example/?device=7",
    "https://collector.example/#device",
    "",
  ];
  for (const url of open) {
    assert.throws(() => deviceFor(url), rule, url);
    assert.throws(() => deviceFor("https://collector.example", { witnesses: [url] }), rule, url);
  }
  const safe = ["https://collector.example", "http://localhost:80", "http://127.3.2.1/a/"];
  for (const url of [...safe, "http://[::1]:9"]) deviceFor(url).close();
});

test("an impossible timeout is refused", () => {
  for (const timeout of [0, -1, NaN, Infinity])
    assert.throws(() => deviceFor("https://collector.example", { timeout }), /`timeout` must be/);
});

test("one deadline holds for a whole exchange, against a server that drips bytes", async (t) => {
  const drip = (request, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  const device = deviceFor(await startServer(t, drip), { timeout: 0.3 });
  const start = performance.now();
  await assert.rejects(device.answer("browser", "firefox"), { name: "UnavailableError" });
  const seconds = (performance.now() - start) / 1000;
  assert.ok(seconds >= 0.3 && seconds < 5, `${seconds} seconds`);
});

test("a report that meets such a server waits and stays", async (t) => {
  const { collector, device, ledger } = await startPair(t, [await browserTask()], {
    delay: 1000,
    timeout: 0.3,
  });
  await device.answer("browser", "firefox");
  collector.mode = "drip";
  assert.deepEqual(await device.flush({ force: true }), { sent: 0, refused: 0, waiting: 1 });
  assert.equal((await device.waiting())[0].reason, "unreachable");
  collector.mode = "up";
  assert.equal((await device.flush({ force: true })).sent, 1);
  assert.equal((await ledger.spent()).spent, 1);
});

test("no more is read than a document may be long", async (t) => {
  let sent = 0;
  const flood = (request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(1 << 16, " ");
    const pour = () => {
      while (response.writable && response.write(chunk)) sent += chunk.length;
    };
    response.on("drain", pour);
    pour();
  };
  const device = deviceFor(await startServer(t, flood));
  const rule = { name: "CodecError", message: /at most 1048576 bytes/ };
  await assert.rejects(device.answer("browser", "firefox"), rule);
  assert.ok(sent < 64 << 20, `${sent} bytes`);
});

test("a redirection is not followed", async (t) => {
  let visits = 0;
  const target = await startServer(t, (request, response) => {
    visits += 1;
    response.end("{}");
  });
  const source = await startServer(t, (request, response) =>
    response.writeHead(302, { Location: `${target}${request.url}` }).end(),
  );
  const failure = { name: "UnavailableError" };
  await assert.rejects(deviceFor(source).answer("browser", "firefox"), failure);
  assert.equal(visits, 0);
});

test("every request asks the browser to keep, repeat and reveal nothing", async (t) => {
  const { device } = await startPair(t, [await browserTask()], {});
  const { fetch } = globalThis;
  const asked = [];
  t.after(() => void (globalThis.fetch = fetch));
  globalThis.fetch = (url, request) => {
    const { cache, credentials, redirect, referrerPolicy } = request;
    asked.push({ cache, credentials, redirect, referrerPolicy });
    return fetch(url, request);
  };
  await device.answer("browser", "firefox");
  const rule = { cache: "no-store", credentials: "omit", redirect: "error" };
  assert.deepEqual(asked, Array(3).fill({ ...rule, referrerPolicy: "no-referrer" }));
});

test("no request carries anything that a collector could know a device by", async (t) => {
  const documents = [await browserTask(), await browserTask({ name: "other" })];
  const { collector, device } = await startPair(t, documents, {});
  collector.cookie = "device=7; Max-Age=999";
  for (const name of ["browser", "other"]) {
    await device.notice(name);
    await device.answer(name, "firefox");
  }
  assert.equal(collector.requests.length, 8);
  const known = new Set();
  for (const { url, headers } of collector.requests) {
    assert.ok(!url.includes("?"), url);
    for (const name of Object.keys(headers)) known.add(name);
  }
  for (const name of [
    ...["cookie", "referer", "authorization", "if-none-match", "if-modified-since"],
    ...["if-match", "if-range", "origin", "x-request-id"],
  ])
    assert.ok(!known.has(name), name);
});

test("an answer without a digest, a state and a round is refused", async (t) => {
  const { collector, device } = await startPair(t, [await browserTask()], {});
  collector.extra = { device: 7 };
  await assert.rejects(device.answer("browser", "firefox"), { name: "CodecError" });
  collector.extra = {};
  collector.state = "elsewhere";
  await assert.rejects(device.answer("browser", "firefox"), { name: "CodecError" });
});
