// Attacks on devices, run in Node against a built client: `node attack_devices.js CASE DIST` reads
// from its input what `attack_javascript.py` gives the case, and prints what the attack achieved.
// An attack uses only what the clients of both trees offer.

import { readFileSync } from "node:fs";
import { mkdtemp, rm, unlink } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [name, dist] = process.argv.slice(2);
const { Client, Device, FileLedger, MemoryLedger } = await import(
  pathToFileURL(join(dist, "node.js")).href
);
const HOUR = 3600;

/** Returns the message of an answer, or nothing if the device refuses. */
async function messageOf(text, ledger, value, roundOf = () => undefined) {
  try {
    const client = await Client.open(text, ledger);
    const document = roundOf(JSON.parse(text).opening);
    return await client.answer(value, document && (await client.round(document)));
  } catch {
    return undefined;
  }
}

/** Halves the domain of one task name again and again, and listens for who stays silent. */
async function silence({ texts, brackets, people }) {
  let found = 0;
  let charged = 0;
  for (let person = 0; person < people; person++) {
    const income = (person * 37 + 5) % brackets;
    const ledger = new MemoryLedger();
    let [low, high] = [0, brackets];
    while (high - low > 2) {
      const middle = (low + high) >> 1;
      if (await messageOf(texts[`${low} ${high}`], ledger, income)) high = middle;
      else low = middle;
    }
    if (income === low || income === high - 1) found++;
    charged += (await ledger.spent()).spent;
  }
  return `${found} of ${people} incomes found, for a charge of ${charged / people} each`;
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

async function forged_consent({ text }) {
  try {
    const shown = await (await Client.open(text, new MemoryLedger())).explain();
    const hidden = /[\n\u202e]/.test(shown);
    return hidden ? "line breaks and direction characters are shown" : "shown as plain words";
  } catch {
    return "refused";
  }
}

async function own_round({ text, mark }) {
  const marked = (opening) => ({ ...opening, number: mark });
  const message = await messageOf(text, new MemoryLedger(), "cat", marked);
  if (!message) return "refused";
  const number = Buffer.from([mark & 255, mark >> 8]);
  return Buffer.from(message).includes(number) ? "the report carries the mark" : "no mark";
}

/** Serves tasks on this machine; `post` answers those who send reports. */
async function serving({ texts, digest, post }, work) {
  const server = createServer((request, response) => {
    if (request.method === "POST") return post(request, response);
    const [, task, round] = /\/v1\/tasks\/([^/]+)(\/round)?$/.exec(request.url);
    const asked = { digest, state: "open", round: JSON.parse(texts[task]).opening };
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
  const value = domain.kind === "integers" ? domain.low : Object.fromEntries(names.map((n) => [n, 0]));
  const before = process.cpuUsage();
  let ending;
  try {
    const client = await Client.open(text, new MemoryLedger({ cap: 1000 }));
    const message = await client.answer(value);
    ending = `a message of ${message.length.toLocaleString("en")} bytes`;
  } catch (error) {
    ending = `refused (${error.name})`;
  }
  const { user, system } = process.cpuUsage(before);
  return `${ending} after ${((user + system) / 1e6).toFixed(2)} s`;
}

/** Every device has one report, made at the beginning, and looks every minute whether it is due. */
async function outage({ texts, digest, people, hours }) {
  let now = 0;
  let arrived = 0;
  const post = (request, response) => {
    if (now < hours * HOUR) return request.socket.destroy();
    arrived++;
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ accepted: 1, duplicates: 0, refused: [] }));
  };
  return serving({ texts, digest, post }, async (url) => {
    const devices = [];
    for (let person = 0; person < people; person++) {
      const ledger = new MemoryLedger({ clock: () => now });
      const device = new Device(url, { ledger, delay: 0 });
      await device.answer("pets", "cat");
      devices.push(device);
    }
    for (; now < (hours + 24) * HOUR; now += 60)
      for (const device of devices) await device.flush();
    for (const device of devices) device.close();
    return `${people - arrived} of ${people} reports lost`;
  });
}

async function removed_ledger({ texts }) {
  const folder = await mkdtemp(join(tmpdir(), "sottovoce-"));
  try {
    const path = join(folder, "ledger.json");
    await messageOf(texts[0], new FileLedger(path, { cap: 1 }), "cat");
    await unlink(path);
    const again = await messageOf(texts[1], new FileLedger(path, { cap: 1 }), "cat");
    return again ? "the whole budget is spent again" : "noticed, nothing is sent";
  } finally {
    await rm(folder, { recursive: true });
  }
}

const CASES = {
  silence,
  no_budget,
  public_column,
  another_meaning,
  forged_consent,
  own_round,
  slow_document,
  outage,
  removed_ledger,
};

console.log(await CASES[name](JSON.parse(readFileSync(0, "utf8"))));
process.exit(0);
