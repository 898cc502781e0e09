// The jobs that the tests in Python give to a Node process; each gets and returns plain data.

import { Client, MemoryLedger, MismatchError } from "../dist/index.js";
import { load, readDomain, readEncoding, readFamily } from "../dist/core/registry.js";
import { RecordedRng } from "./recorded_rng.js";

const READERS = { domain: readDomain, encoding: readEncoding, family: readFamily };
const MAX_TRIES = 4000; // devices until enough of them are asked in the opening round

/** Returns, by name, the messages of many people who hold the same value and answer a task. */
export async function answers(tasks) {
  const messages = {};
  for (const [name, { text, value, users }] of Object.entries(tasks)) {
    const client = await Client.open(text, new MemoryLedger({ cap: 20 }));
    messages[name] = await answersOf(client, value, client.notice.opening, users);
  }
  return messages;
}

/** Returns the messages of the first devices that the round asks. */
async function answersOf(client, value, round, users) {
  const messages = [];
  for (let tries = 0; messages.length < users && tries < MAX_TRIES; tries++) {
    try {
      messages.push(base64(await answerAsNewDevice(client, value, round)));
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error; // another round asks this device
    }
  }
  return messages;
}

/** Answers in one transaction that leaves the ledger empty, so that every device is a new one. */
function answerAsNewDevice(client, value, round) {
  return client.ledger.update((file) => {
    const message = client.respond(file, value, round);
    Object.assign(file, { tasks: {}, charges: [] });
    return message;
  });
}

/** Returns the messages of people who hold these values, one each. */
export async function answerEach({ text, values }) {
  const messages = [];
  for (const value of values) {
    const client = await Client.open(text, new MemoryLedger({ cap: 20 }));
    messages.push(base64(await client.answer(value)));
  }
  return messages;
}

/** Returns, by name, the messages of many people who hold the same basket and answer a round. */
export async function answerRound({ text, round: content, baskets, users }) {
  const client = await Client.open(text, new MemoryLedger());
  const round = await client.round(content);
  const messages = {};
  for (const [name, basket] of Object.entries(baskets))
    messages[name] = await answersOf(client, basket, round, users);
  return messages;
}

/** Returns the index of every value, or why it is refused. */
export async function indices({ domain: content, values }) {
  const domain = await readAs(readDomain, content);
  return Promise.all(values.map((value) => attempt(() => domain.index(value))));
}

/** Returns for every row its cell, the bytes consumed and the number of cells. */
export async function cells({ domain: content, rows }) {
  const domain = await readAs(readDomain, content);
  const results = [];
  for (const { encoding: encodingContent, value, stream } of rows) {
    const encoding = await readAs(readEncoding, encodingContent);
    const rng = recorded(stream);
    const cell = encoding.encode(domain.index(value), rng);
    results.push([cell, rng.consumed, encoding.outputs(domain)]);
  }
  return results;
}

/** Returns what every member of some families makes of a value under recorded bytes. */
export async function members(families) {
  const results = [];
  for (const { domain: domainContent, family: familyContent, value, streams } of families) {
    const domain = await readAs(readDomain, domainContent);
    const family = await readAs(readFamily, familyContent);
    const index = domain.index(value);
    const report = (stream, member) => {
      const { mechanism, encoding, epsilon } = family.at(member);
      const rng = recorded(stream);
      const packed = mechanism.permanent(encoding.encode(index, rng), rng);
      const hex = Buffer.from(packed).toString("hex");
      return [family.length, encoding.outputs(domain), epsilon, hex, rng.consumed];
    };
    results.push(streams.map(report));
  }
  return results;
}

/** Returns for every document "read", or why it is refused. */
export async function documents(entries) {
  const read = async ({ noun, content }) => {
    await readAs(READERS[noun], content);
    return "read";
  };
  return Promise.all(entries.map((entry) => attempt(() => read(entry))));
}

/** Returns the statement of every task, or why the task is refused. */
export async function statements({ texts, cap, windows, charges, time }) {
  const explain = async (text) => {
    const ledger = new MemoryLedger({ cap, windows, clock: () => time });
    await ledger.update((file) => void file.charges.push(...charges));
    return (await Client.open(text, ledger)).explain();
  };
  const results = [];
  for (const text of texts) results.push(await attempt(() => explain(text)));
  return results;
}

async function readAs(read, content) {
  await load(content);
  return read(content);
}

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

function recorded(stream) {
  return new RecordedRng(new Uint8Array(Buffer.from(stream, "base64")));
}

function base64(bytes) {
  return Buffer.from(bytes).toString("base64");
}
