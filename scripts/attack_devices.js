// Attacks on devices, run in Node against a built client: `node attack_devices.js CASE DIST` reads
// from its input what `attack_javascript.py` gives the case, and prints what the attack achieved.
// An attack uses only what the clients of both trees offer.

import { readFileSync } from "node:fs";
import { mkdtemp, rm, truncate, unlink } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [name, dist] = process.argv.slice(2);
const { Client, Device, FileLedger, MemoryLedger, SottovoceError } = await import(
  pathToFileURL(join(dist, "node.js")).href
);
const HOUR = 3600; // seconds
const LOOK_EVERY = 300; // seconds

/**
 * Returns what some work gives, or nothing if the device refuses.  Other errors are mistakes of
 * this script, and end it.
 */
async function unlessRefused(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SottovoceError) return undefined;
    throw error;
  }
}

/** Returns the message of an answer to the opening round, or nothing if the device refuses. */
function messageOf(text, ledger, value) {
  return unlessRefused(async () => (await Client.open(text, ledger)).answer(value));
}

/**
 * Halves the domain of incomes again and again, and listens for who stays silent.  Each of many
 * people is asked beside a second person, with another income.
 */
async function silence({ texts, brackets, people, agrees }) {
  let found = 0;
  let answers = 0;
  let different = 0;
  let charged = 0;
  for (let person = 0; person < people; person++) {
    const incomes = [37, 101].map((factor) => (person * factor + 5) % brackets);
    if (incomes[0] === incomes[1]) incomes[1] = brackets - 1 - incomes[0];
    const ledgers = incomes.map(() => new MemoryLedger());
    let isDifferent = false;
    let [low, high] = [0, brackets];
    while (high - low > 2) {
      const text = texts[`${low} ${high}`];
      const middle = (low + high) >> 1;
      const seen = [];
      for (const [i, ledger] of ledgers.entries())
        seen.push(await seenOf(text, ledger, incomes[i], agrees));
      isDifferent ||= JSON.stringify(seen[0]) !== JSON.stringify(seen[1]);
      const hasAnswered = seen[0].length > 0;
      if (hasAnswered) high = middle;
      else low = middle;
      if (hasAnswered) answers++;
    }
    if (incomes[0] === low || incomes[0] === high - 1) found++;
    if (isDifferent) different++;
    charged += (await ledgers[0].spent()).spent;
  }
  const asked = `${answers / people} answered questions`;
  const charge = `a charge of ${Number((charged / people).toPrecision(2))} each`;
  const compared = `${different} of ${people} people behave unlike a second one`;
  return `${found} of ${people} incomes found, for ${asked} and ${charge}; ${compared}`;
}

/** Returns how long the message of an answer is, what was refused and what has been charged. */
async function seenOf(text, ledger, income, agrees) {
  const client = await Client.open(text, ledger);
  if (agrees && "agree" in client) await client.agree();
  let refusal = "";
  const message = await client.answer(income).catch((error) => {
    if (!(error instanceof SottovoceError)) throw error;
    refusal = error.name;
  });
  const { spent } = await ledger.spent();
  return { length: message?.length ?? 0, refusal, spent };
}

async function no_budget({ text }) {
  const message = await messageOf(text, new MemoryLedger({ cap: 0 }), "cat");
  return message ? "a message leaves" : "nothing leaves";
}

async function public_column({ text }) {
  const message = await messageOf(text, new MemoryLedger(), { age: 33, city: "Rome" });
  if (!message) return "refused before anything is sent";
  return Buffer.from(message).includes("Rome") ? "the city left in clear" : "nothing in clear";
}

async function another_meaning({ texts }) {
  const ledger = new MemoryLedger({ cap: 10 });
  await messageOf(texts[0], ledger, "flat");
  const again = await messageOf(texts[1], ledger, "poor");
  return again ? "answered, at twice the price" : "refused";
}

async function forged_consent({ text, how, words }) {
  const open = async () => (await Client.open(text, new MemoryLedger())).explain();
  const shown = await unlessRefused(open);
  if (shown === undefined) return "refused";
  const start = shown.indexOf(words);
  switch (how) {
    case "lines":
      return /[\n\u202e]/.test(shown)
        ? "line breaks and direction characters are shown"
        : "shown as plain words";
    case "length":
      return `the owner reads ${shown.length.toLocaleString("en")} characters`;
    case "order": {
      const facts = ["in clear", "costs epsilon"].map((fact) => shown.indexOf(fact));
      const isLast = facts.every((fact) => fact >= 0 && fact < start);
      return isLast ? "they come last, after clear and cost" : "they come before clear or cost";
    }
  }
  if (start < 0) return "the words are not shown";
  const before = shown.slice(0, start);
  const isQuoted = before.lastIndexOf("\u201c") > before.lastIndexOf("\u201d");
  return isQuoted ? "the words stand within quotation marks" : "the words pass for ours";
}

/** Gives one device a round of its own; a witness, if devices ask one, shows that of everybody. */
async function own_round({ text, digest, name, value, rounds }) {
  const publish = (round, work) => serving({ texts: { [name]: text }, digest, round, post }, work);
  const post = (_, response) => accept(response);
  const isAnswered = (url, options) =>
    unlessRefused(async () => {
      const device = new Device(url, { ledger: new MemoryLedger(), delay: 0, ...options });
      await device.answer(name, value);
      device.close();
      return true;
    });
  return publish(rounds.own, (own) =>
    publish(rounds.everybody, async (everybody) => {
      if (!(await isAnswered(own, {}))) return "refused";
      if (await isAnswered(own, { witnesses: [everybody] })) return "answered";
      return "refused where a witness shows the round of everybody, answered without one";
    }),
  );
}

function accept(response) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ accepted: 1, duplicates: 0, refused: [] }));
}

/** Serves tasks and a round (the opening one, if none is given); `post` answers reports. */
async function serving({ texts, digest, round: given, post }, work) {
  const server = createServer((request, response) => {
    if (request.method === "POST") return post(request, response);
    const [, task, round] = /\/v1\/tasks\/([^/]+)(\/round)?$/.exec(request.url);
    const asked = { digest, state: "open", round: given ?? JSON.parse(texts[task]).opening };
    const body = round ? JSON.stringify(asked) : texts[task];
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(body);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  try {
    return await work(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function slow_document({ text }) {
  const { domain } = JSON.parse(text);
  const names = domain.tables?.[0].names ?? [];
  const record = Object.fromEntries(names.map((column) => [column, 0]));
  const value = domain.kind === "integers" ? domain.low : record;
  const before = process.cpuUsage();
  let ending;
  try {
    const client = await Client.open(text, new MemoryLedger({ cap: 1000 }));
    const message = await client.answer(value);
    ending = `a message of ${message.length.toLocaleString("en")} bytes`;
  } catch (error) {
    if (!(error instanceof SottovoceError)) throw error;
    ending = `refused (${error.name})`;
  }
  const { user, system } = process.cpuUsage(before);
  return `${ending} after ${((user + system) / 1e6).toFixed(2)} s`;
}

/** Every device has one report, made at the beginning. */
function outage({ hours, ...given }) {
  const isUp = (now) => now >= hours * HOUR;
  return reportsLost({ ...given, isUp, until: (hours + 24) * HOUR, spread: 0 });
}

/** Is within reach in some minutes of a week; the reports are made on its first day. */
function quarter_up({ up, ...given }) {
  const isUp = (now) => up[Math.floor(now / 60)];
  return reportsLost({ ...given, isUp, until: 60 * (up.length - 1), spread: 24 * HOUR });
}

/** Lets devices look every few minutes whether their report is due; returns how many are lost. */
async function reportsLost({ texts, digest, people, isUp, until, spread }) {
  let now = 0;
  let arrived = 0;
  const post = (request, response) => {
    if (!isUp(now)) return request.socket.destroy();
    arrived++;
    return accept(response);
  };
  return serving({ texts, digest, post }, async (url) => {
    const devices = Array.from({ length: people }, () => {
      const ledger = new MemoryLedger({ clock: () => now });
      return new Device(url, { ledger, delay: 0 });
    });
    let begun = 0;
    for (; now < until && arrived < people; now += LOOK_EVERY) {
      for (; begun < people && now >= (spread * begun) / people; begun++)
        await devices[begun].answer("pets", "cat");
      for (const device of devices.slice(0, begun)) await device.flush();
    }
    for (const device of devices) device.close();
    return `${people - arrived} of ${people} reports lost`;
  });
}

/** Answers with every device in turn, and returns how many messages have left. */
async function own_keys({ url, people }) {
  let answered = 0;
  for (let person = 0; person < people; person++) {
    const device = new Device(url, { ledger: new MemoryLedger(), delay: 0, relay: url });
    const message = await unlessRefused(() => device.answer("browser", String(person % 16)));
    const waiting = await device.waiting();
    if (message && !waiting.length) answered++;
    device.close();
  }
  return answered;
}

async function kept_message({ texts, digest }) {
  let now = 0;
  const post = (_, response) => accept(response);
  return serving({ texts, digest, post }, async (url) => {
    const ledger = new MemoryLedger({ clock: () => now });
    const device = new Device(url, { ledger, delay: 0 });
    const message = Buffer.from(await device.answer("pets", "cat")).toString("hex");
    const isKept = () => ledger.update((file) => JSON.stringify(file).includes(message));
    if (!(await isKept())) throw new Error("the ledger must hold what it repeats");
    now = 31 * 24 * HOUR;
    await device.flush();
    device.close();
    return (await isKept()) ? "the report is still there" : "the report is erased";
  });
}

async function plain_http() {
  try {
    const device = new Device("http://collector.example", { ledger: new MemoryLedger() });
    await device.answer("pets", "cat");
  } catch (error) {
    if (!(error instanceof SottovoceError)) throw error;
    if (error.name !== "UnavailableError") return "refused";
  }
  return "the device sends without encryption"; // it tried; this machine has no such network
}

async function dripping_server() {
  const server = createTcpServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nX-Long: ");
    const timer = setInterval(() => socket.write("x"), 500);
    socket.on("error", () => {}).on("close", () => clearInterval(timer));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${server.address().port}`;
  const device = new Device(url, { ledger: new MemoryLedger() });
  const began = performance.now();
  const patience = new Promise((done) => setTimeout(done, 60_000, "waits"));
  const asking = unlessRefused(() => device.answer("pets", "cat"));
  if ((await Promise.race([asking, patience])) === "waits")
    return "the device still waits after 60 s";
  return `the device gives up after ${((performance.now() - began) / 1000).toFixed(0)} s`;
}

/** Spends a ledger, has its file cut or removed, and asks again. */
async function spentAgain(texts, harm) {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  try {
    const path = join(folder, "ledger.json");
    if (!(await messageOf(texts[0], new FileLedger(path, { cap: 1 }), "cat")))
      throw new Error("the first task must be answered");
    await harm(path);
    const again = await messageOf(texts[1], new FileLedger(path, { cap: 1 }), "cat");
    return again ? "the whole budget is spent again" : "noticed, nothing is sent";
  } finally {
    await rm(folder, { recursive: true });
  }
}

const cut_ledger = ({ texts }) => spentAgain(texts, truncate);
const removed_ledger = ({ texts }) => spentAgain(texts, unlink);

const CASES = {
  silence,
  no_budget,
  public_column,
  another_meaning,
  forged_consent,
  own_round,
  slow_document,
  outage,
  quarter_up,
  own_keys,
  kept_message,
  plain_http,
  dripping_server,
  cut_ledger,
  removed_ledger,
};

console.log(await CASES[name](JSON.parse(readFileSync(0, "utf8"))));
process.exit(0);
