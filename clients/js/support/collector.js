// A small collector over real HTTP: publishes tasks, records what is posted, and can be told to fail.

import { createServer } from "node:http";

import { parse } from "../dist/wire/codec.js";
import { digestOf, roundOf } from "./tasks.js";

export async function collector(...documents) {
  const tasks = new Map(documents.map((document) => [parse(document).name, document]));
  const state = { posts: [], requests: [], mode: "up", state: "open", round: undefined, etag: undefined, tasks };
  const server = createServer((request, response) => serve(state, request, response));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))),
  });
}

async function serve(state, request, response) {
  const [, , , name, what] = decodeURIComponent(request.url).split("/");
  state.requests.push({ method: request.method, url: request.url, headers: request.headers });
  const document = state.tasks.get(name);
  const say = (status, content, headers = {}) => response.writeHead(status, headers).end(content);
  if (!document) return say(404, "{}");
  if (what === "round") {
    const round = state.round === undefined ? roundOf(document) : state.round;
    return say(200, JSON.stringify({ digest: digestOf(document), state: state.state, round }));
  }
  if (what !== "reports") return say(200, document, { ETag: state.etag ?? `"${digestOf(document)}"` });
  return posted(state, request, response, say);
}

async function posted(state, request, response, say) {
  let body = "";
  for await (const chunk of request) body += chunk;
  if (state.mode === "down") return response.destroy();
  state.posts.push(JSON.parse(body));
  if (state.mode === "cut") return response.destroy(); // heard, but the answer is lost
  if (state.mode === "busy") return say(503, "{}", { "Retry-After": "7200" });
  if (state.mode === "late")
    return say(200, '{"accepted":0,"duplicates":0,"refused":[{"index":0,"code":"too-late","retry":false}]}');
  if (state.mode === "stranger") return say(200, "<html>Welcome to the hotel</html>");
  const heard = state.posts.filter((post) => post.reports[0] === state.posts.at(-1).reports[0]).length;
  return say(200, JSON.stringify({ accepted: heard === 1 ? 1 : 0, duplicates: heard === 1 ? 0 : 1, refused: [] }));
}
