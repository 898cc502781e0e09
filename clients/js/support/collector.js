// A small collector over real HTTP, and a device that answers it.  The collector publishes tasks,
// records what is posted, and fails in the way that its `mode` says.

import { createServer } from "node:http";

import { Device, MemoryLedger } from "../dist/node.js";
import { parse } from "../dist/wire/codec.js";
import { digestOf, roundOf } from "./tasks.js";

const REFUSAL = { index: 0, code: "too-late", retry: false };
const TOO_LATE = { accepted: 0, duplicates: 0, refused: [REFUSAL] };

/** Returns a collector of these tasks and a device; the test `t` closes both when it ends. */
export async function startPair(t, documents, options = {}) {
  const { ledger = new MemoryLedger({ clock: options.clock }) } = options;
  const collector = await startCollector(documents);
  const device = new Device(`${collector.url}/`, { delay: 0, ...options, ledger });
  t.after(async () => {
    device.close();
    await collector.close();
  });
  return { collector, device, ledger };
}

async function startCollector(documents) {
  const collector = {
    tasks: new Map(documents.map((document) => [parse(document).name, document])),
    posts: [],
    requests: [],
    mode: "up", // or down, drip, cut, busy, late, stranger
    state: "open",
    round: undefined, // the opening round
    etag: undefined, // the digest of the task
    cookie: undefined,
    extra: {}, // beside digest, state and round
    retryAfter: 7200, // seconds that a busy collector wants devices to wait
  };
  const server = createServer((request, response) => serve(collector, request, response));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  collector.url = `http://127.0.0.1:${server.address().port}`;
  collector.close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return collector;
}

async function serve(collector, request, response) {
  const { method, url, headers } = request;
  collector.requests.push({ method, url, headers });
  const [, , , name, resource] = decodeURIComponent(url).split("/");
  const document = collector.tasks.get(name);
  if (collector.cookie) response.setHeader("Set-Cookie", collector.cookie);
  const reply = (status, content, replyHeaders = {}) =>
    response.writeHead(status, replyHeaders).end(content);
  if (!document) return reply(404, "{}");
  const digest = digestOf(document);
  if (resource === "reports") return receive(collector, request, response, reply);
  if (resource !== "round") return reply(200, document, { ETag: collector.etag ?? `"${digest}"` });
  const round = collector.round === undefined ? roundOf(document) : collector.round;
  const { state, extra } = collector;
  return reply(200, JSON.stringify({ digest, state, round, ...extra }));
}

async function receive(collector, request, response, reply) {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { mode, posts } = collector;
  if (mode === "down") return response.destroy();
  if (mode === "drip") return response.writeHead(200).write(" "); // and no end
  const post = JSON.parse(body);
  const isNew = !posts.some(({ reports }) => reports[0] === post.reports[0]);
  posts.push(post);
  if (mode === "cut") return response.destroy(); // received, but the answer is lost
  const retryAfter = String(collector.retryAfter);
  if (mode === "busy") return reply(503, "{}", { "Retry-After": retryAfter });
  if (mode === "late") return reply(200, JSON.stringify(TOO_LATE));
  if (mode === "stranger") return reply(200, "<html>Welcome to the hotel</html>");
  const receipt = { accepted: isNew ? 1 : 0, duplicates: isNew ? 0 : 1, refused: [] };
  return reply(200, JSON.stringify(receipt));
}

/** Returns the bytes of the report in a request. */
export function reportOf(post) {
  return Buffer.from(post.reports[0], "base64");
}
