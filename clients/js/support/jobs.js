// The jobs that the tests in Python give to a Node process; each gets and returns plain data.

import { noticeOf } from "../dist/client/client.js";
import { Client, MemoryLedger, MismatchError } from "../dist/index.js";
import { load, readDomain, readEncoding, readFamily } from "../dist/core/registry.js";
import { hex, unhex } from "../dist/bytes.js";
import { parse } from "../dist/wire/codec.js";
import { openLayer, seal } from "../dist/wire/seal.js";
import * as tokens from "../dist/wire/tokens.js";
import { changedTask, goldenTasks, seeded } from "./hostile.js";
import { RecordedRng } from "./recorded_rng.js";

export { deviceOptions } from "./device_options.js";
export { microseconds } from "./speed.js";

const READERS = { domain: readDomain, encoding: readEncoding, family: readFamily };
const MAX_TRIES = 4000; // devices until enough of them are asked in the opening round

/** Returns, by name, the messages of many people who hold the same value and answer a task. */
export async function answers(tasks) {
  const messages = {};
  for (const [name, { text, value, users }] of Object.entries(tasks)) {
    const client = await openAccepting(text);
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
    const { message } = client.respond(file, value, round);
    Object.assign(file, { tasks: {}, charges: [] });
    return message;
  });
}

/** Returns the messages of people who hold these values, one each. */
export async function answerEach({ text, values }) {
  const messages = [];
  for (const value of values) {
    const client = await openAccepting(text);
    messages.push(base64(await client.answer(value)));
  }
  return messages;
}

/** Returns, by name, the messages of many people who hold the same basket and answer a round. */
export async function answerRound({ text, round: content, baskets, users }) {
  // Whatever the plan announces: the test makes a round of its own.
  const limits = { check: () => undefined };
  const { notice } = await openAccepting(text);
  const client = await Client.open({ ...notice, rounds: limits }, new MemoryLedger());
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

/** Returns the statement of every task in every language, or why the task is refused. */
export async function statements({ texts, languages, cap, windows, charges, time }) {
  const explain = async (text) => {
    const ledger = new MemoryLedger({ cap, windows, clock: () => time });
    await ledger.update((file) => void file.charges.push(...charges));
    const client = await Client.open(text, ledger);
    const { opening } = client.notice;
    return Promise.all(languages.map((language) => client.explain(opening, language)));
  };
  const results = [];
  for (const text of texts) results.push(await attempt(() => explain(text)));
  return results;
}

/** Returns messages, in hex, sealed for some keys. */
export async function sealMessages({ messages, keys, context }) {
  const results = [];
  for (const message of messages)
    results.push(hex(await seal(unhex(message), keys.map(unhex), contextOf(context))));
  return results;
}

/** Returns what is under the layer of a hop. */
export async function openMessages({ messages, key, context, hop }) {
  const open = (sealed) => openLayer(unhex(sealed), unhex(key), contextOf(context), hop);
  return Promise.all(messages.map(async (sealed) => hex(await open(sealed))));
}

let pendingTokens = [];

/** Starts some tokens of one task and returns what an issuer has to sign. */
export async function blindTokens({ key, digest, count }) {
  const issuer = tokens.readIssuerKey(unhex(key));
  pendingTokens = Array.from({ length: count }, () => tokens.blind(issuer, unhex(digest)));
  return Promise.all(pendingTokens.map(async (pending) => hex(await tokens.blindedBytes(pending))));
}

/** Finishes the tokens that `blindTokens` started, and returns them with their seeds. */
export async function finalizeTokens(blindSignatures) {
  const finish = async (signature, i) => {
    const pending = pendingTokens[i];
    const token = await tokens.finalize(pending, unhex(signature));
    return [hex(tokens.tokenBytes(token)), String(tokens.seedDraw(token, pending.digest, 0))];
  };
  return Promise.all(blindSignatures.map(finish));
}

function contextOf({ digest, ...others }) {
  return { digest: unhex(digest), ...others };
}

/** Returns the client of a new device whose app accepts all public columns. */
function openAccepting(text) {
  const accepts = { public: parse(text).domain.public?.names ?? [] };
  return Client.open(text, new MemoryLedger({ cap: 20 }), { accepts });
}

/** Returns the texts of golden tasks, and of some with changed entries. */
export async function taskTexts({ changed, seed }) {
  const tasks = await goldenTasks();
  const random = seeded(seed);
  const texts = Array.from({ length: changed }, () => changedTask(tasks, random));
  return [...tasks.map((task) => JSON.stringify(task)), ...texts];
}

/** Returns what a document may hold at most, by name. */
export async function bounds() {
  return { ...(await import("../dist/core/bounds.js")) };
}

/** Returns for every text of a task "read", or why it is refused. */
export async function notices(texts) {
  const read = async (text) => {
    await noticeOf(text);
    return "read";
  };
  const results = [];
  for (const text of texts) results.push(await attempt(() => read(text)));
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

export {
  answerDirectly,
  answerWithToken,
  beginToken,
  explainTask,
  openAll,
  promises,
  refusedChange,
  refusedKeys,
  refusedRound,
  refusedTask,
  sealAnswer,
} from "./shuffled.js";
export { answerShuffled } from "./shuffled_device.js";
