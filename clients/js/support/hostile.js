// Hostile documents: those of the golden files with some entries changed, and documents that are
// made to be slow, large or deep.  A device must read and answer them in a moment, or refuse them
// with one of its own errors.
//
//     node support/hostile.js 100000 7        what became of so many changed documents, from this
//                                             seed, and how long they took
//     node support/hostile.js 100000 7 1      each of them once, which says little about its time
//     node support/hostile.js work 1000 7     how much work they were
//     node support/hostile.js 100000 7 --documents=FILE    those of a JSON file as well, by name

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { Client, MemoryLedger, SottovoceError } from "../dist/index.js";
import { parse } from "../dist/wire/codec.js";
import { WorkCounter } from "./work.js";

const FILES = [
  ...["discovery", "envelope", "longitudinal", "marginals", "seeds", "shuffled", "tables"],
  "task_id",
];
const FAST = 20; // milliseconds; other processes may make a run slower than it is
const MAX_RUNS = 7;
const MAX_REPEATED = 100_000; // characters of a list that is repeated
const WHOLE_COIN = String(2n ** 64n);
const VALUES = ["firefox", 3, ["fig"], { a: 1 }, null];

/** Returns a source of whole numbers below a limit that a seed determines. */
export function seeded(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) % limit;
  };
}

/** Returns all tasks of the golden files, each once. */
export async function goldenTasks() {
  const tasks = new Map();
  for (const file of FILES) {
    const url = new URL(`../../../tests/golden/${file}.json`, import.meta.url);
    const rows = Object.values(JSON.parse(await readFile(url, "utf8"))).flat();
    for (const row of rows) {
      const content = row.content ?? row.task;
      if (content?.kind === "task") tasks.set(JSON.stringify(content), content);
    }
  }
  return [...tasks.values()];
}

/** Returns the text of a task with one to four entries changed. */
export function changedTask(tasks, random) {
  const content = structuredClone(tasks[random(tasks.length)]);
  const other = tasks[random(tasks.length)];
  for (let changes = random(4); changes; changes--) changeEntry(content, other, random);
  changeEntry(content, other, random, repeated); // once: what is repeated twice is too long
  return JSON.stringify(content);
}

function changeEntry(content, other, random, repeat = (entries) => entries) {
  const places = [...placesIn(content)];
  const { parent, key } = places[random(places.length)];
  const old = parent[key];
  const replacements = [
    () => old,
    () => EXTREMES[random(EXTREMES.length)],
    () => EXTREMES[random(EXTREMES.length)],
    () => partOf(other, random),
    () => partOf(content, random),
    () => (Array.isArray(old) ? repeat(old, random) : [old, old]),
    () => (typeof old === "number" ? old + random(3) - 1 : old),
    () => (typeof old === "string" ? `${old}0`.slice(random(2)) : old),
    () => undefined,
  ];
  const replacement = replacements[random(replacements.length)]();
  if (replacement !== undefined) parent[key] = structuredClone(replacement);
  else if (Array.isArray(parent)) parent.splice(key, 1);
  else delete parent[key];
}

function* placesIn(content) {
  for (const [key, value] of Object.entries(content)) {
    yield { parent: content, key };
    if (typeof value === "object" && value !== null) yield* placesIn(value);
  }
}

function partOf(content, random) {
  const places = [...placesIn(content)];
  const { parent, key } = places[random(places.length)];
  return parent[key];
}

function repeated(entries, random) {
  const most = Math.ceil(MAX_REPEATED / (1 + JSON.stringify(entries).length));
  const count = Math.min([2, 17, 300, 5000][random(4)], most);
  return Array.from({ length: count }, () => entries).flat();
}

const EXTREMES = [
  ...[0, 1, 2, -1, 255, 65_535, 65_536, 2 ** 20, 2 ** 32, 2 ** 53 - 1, -(2 ** 53 - 1), 1.5],
  ...["0", "1", "0.0", "1e-300", "20.0", "1e+308", "NaN", "Infinity", "", " ", "\u0000", "\u202e"],
  ...[WHOLE_COIN, String(2n ** 63n), String(2n ** 480n), "9".repeat(161), "9".repeat(50_000)],
  ...[true, false, null, [], {}, [[]], [0], [0, 1], Array(3000).fill(0), Array(3000).fill("a")],
  ...[{ kind: "grr" }, { kind: "toString" }, { kind: "__proto__" }, { kind: "" }, "kind"],
  { __proto__: null, constructor: { kind: "task" } },
];

/** Returns documents that are made to be slow, large or deep, by name. */
export function slowTasks(task) {
  const openingOf = (ask) => ({ kind: "round", number: 0, ask, low: 0, high: WHOLE_COIN });
  const withAsk = (domain, ask, more = {}) =>
    JSON.stringify({ ...task, epsilon: "20.0", domain, opening: openingOf(ask), ...more });
  const withPlan = (plan) => JSON.stringify({ ...task, plan: { kind: "x", ...plan } });
  const integers = (size) => ({ kind: "integers", low: 0, high: size - 1 });
  const choice = (members) => ({ kind: "choice", members, weights: [] });
  const question = (mechanism, more = {}) =>
    ({ kind: "question", mechanism, epsilon: mechanism.epsilon, ...more });
  const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
  const decimal = (number) => (Number.isInteger(number) ? `${number}.0` : String(number));
  const columns = 10_000;
  const widths = times(columns, (i) => (i < 12 ? [2, 1] : [2]));
  const layers = {
    ...{ kind: "layers", table: 0, columns: times(columns, Number), most: 0, rounding: "none" },
    ...{ sizes: Array(columns).fill(2), widths, groups: [], first: 0 },
    mechanisms: times(12, (i) => grr("0.5", 2 ** (i + 1))),
  };
  const fewColumns = { columns: times(12, Number), sizes: Array(12).fill(2) };
  const fewLayers = { ...layers, ...fewColumns, widths: Array(12).fill([2, 1]) };
  const names = times(900, (i) => `column ${i}`);
  const records = { kind: "records", names, attributes: names.map(() => integers(2)) };
  const labels = times(60_000, (i) => `label ${i}`);
  const manyKeys = Object.fromEntries(times(60_000, (i) => [`key ${i}`, 0]));
  const dear = times(256, (i) => question(grr(decimal(18 + i / 8192), 4)));
  const priced = times(1000, (i) => question(grr("1.0", 4), { epsilon: decimal(2 + i / 8192) }));
  const pairs = times(4096, (i) => [i % 64, 64 + Math.floor(i / 64)]);
  const views = { kind: "views", sizes: Array(200).fill(2), columns: pairs };
  const cell = {
    ...{ kind: "cell", table: 0, columns: times(columns, Number), sizes: Array(columns).fill(2) },
    ...{ widths: Array(columns).fill(2), most: 0, weighted: false, aligned: false, mirrored: [] },
    rounded: times(columns, Number),
  };
  return {
    "a bit for each of a million answers": withAsk(integers(2 ** 20), question(oue(2 ** 20))),
    "a permanent bit for each of many answers": withAsk(integers(32_000), question(oue(32_000)), {
      distinct: 1,
    }),
    "nine times the permanent bits that are allowed": withAsk(
      integers(300_000),
      question(oue(300_000)),
      { distinct: 1 },
    ),
    "more permanent bits than are allowed": withAsk(integers(2 ** 20), question(oue(2 ** 20)), {
      distinct: 1,
    }),
    "layers of many columns": withAsk(integers(4), choice(layers)),
    "two to the seventeen layers": withAsk(
      integers(4),
      choice({ ...layers, widths: widths.map((own, i) => (i < 17 ? [2, 1] : own)) }),
    ),
    "equal layers in every slot": withAsk(integers(4), {
      kind: "bundle",
      parts: Array(60).fill(choice(fewLayers)),
    }),
    "mirrored layers of many columns": withAsk(
      integers(4),
      choice({
        ...{ ...layers, widths: Array(columns).fill([2]), mechanisms: [grr("0.5", 2)] },
        ...{ rounding: "mirror", groups: times(2000, Number) },
      }),
    ),
    "a cell of many columns": withAsk(integers(4), question(grr("1.0", 2), { encoding: cell })),
    "thousands of views": withAsk(
      integers(4),
      choice({ ...views, mechanisms: [grr("1.0", 4)] }),
    ),
    "records of many columns": withAsk(
      records,
      question(grr("1.0", 2), { encoding: { kind: "attribute", column: 0 } }),
    ),
    "many labels": withAsk(
      { kind: "categories", labels, declinable: false },
      question(grr("1.0", 60_000)),
    ),
    "many mechanisms": withAsk(integers(4), choice(dear)),
    "many prices": withAsk(integers(4), choice(priced)),
    "many members": withAsk(integers(4), choice(Array(4097).fill(0))),
    "many slots": withAsk(integers(4), { kind: "bundle", parts: Array(257).fill(0) }),
    "a large plan": withPlan({ entries: Array(65_000).fill(0) }),
    "many keys": withPlan(manyKeys),
    "a long text": withPlan({ text: "x".repeat(1_040_000) }),
    "a text of quotes": withPlan({ text: '"'.repeat(130_000) }),
    "a text that is too long": " ".repeat(2 ** 20 + 1),
    "a hundred thousand levels": `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
    "lists of lists": `{"a":[${"[],".repeat(340_000)}[]]}`,
    "open brackets": "[".repeat(60_000),
  };
}

function grr(epsilon, size) {
  const keep = (0.999 * Math.exp(+epsilon)) / (Math.exp(+epsilon) + size - 1);
  return { kind: "grr", epsilon, size, keep: thresholdOf(keep) };
}

function oue(size) {
  const flip = 1.001 / (Math.E + 1);
  return { kind: "oue", epsilon: "1.0", size, keep: thresholdOf(0.5), flip: thresholdOf(flip) };
}

function thresholdOf(chance) {
  return String(BigInt(Math.floor(chance * 2 ** 52)) << 12n);
}

/** Returns what became of a document and how many milliseconds of the processor it took. */
export async function measure(text, value, open = openTask) {
  const accepts = { public: publicNames(text) };
  const start = process.cpuUsage();
  const outcome = await outcomeOf(() => open(text, accepts), value);
  const { user, system } = process.cpuUsage(start);
  return { outcome, milliseconds: (user + system) / 1000 };
}

function openTask(text, accepts) {
  return Client.open(text, new MemoryLedger({ cap: 1000 }), { accepts });
}

async function outcomeOf(open, value) {
  try {
    const client = await open();
    await client.explain();
    await client.answer(value);
    return "answered";
  } catch (error) {
    // A ledger passes other errors on as the cause of its own.
    const isTyped = error instanceof SottovoceError && error.cause === undefined;
    return isTyped ? error.name : `untyped: ${(error.cause ?? error).stack}`;
  }
}

function publicNames(text) {
  try {
    const names = parse(text).domain?.public?.names;
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}

/** Returns how often each outcome occurred, the slowest document and the untyped errors. */
export async function runChanged(count, seed, open = openTask, runs = MAX_RUNS) {
  const random = seeded(seed);
  const tasks = await goldenTasks();
  const outcomes = {};
  const untyped = [];
  let slowest = { milliseconds: 0, text: "" };
  for (let i = 0; i < count; i++) {
    const text = changedTask(tasks, random);
    const value = VALUES[random(VALUES.length)];
    const { outcome, milliseconds } = await leastOf(runs, () => measure(text, value, open));
    if (outcome.startsWith("untyped")) untyped.push({ outcome, text: beginningOf(text) });
    else outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    // The first documents load modules and compile them.
    if (i > 200 && milliseconds > slowest.milliseconds)
      slowest = { milliseconds, text: beginningOf(text) };
  }
  return { outcomes, untyped, slowest };
}

/** Returns the run that took the least time, of several if the first was not fast. */
async function leastOf(runs, work) {
  let least = await work();
  for (let run = 1; run < runs && least.milliseconds > FAST; run++) {
    const other = await work();
    if (other.milliseconds < least.milliseconds) least = other;
  }
  return least;
}

/** Returns a copy of the beginning of a text: a slice would keep the whole text in memory. */
function beginningOf(text) {
  return Buffer.from(text.slice(0, 2000)).toString();
}

/** Returns for every slow document its outcome and the least time of a few runs. */
export async function runSlow(documents, runs = MAX_RUNS) {
  const results = {};
  for (const [name, text] of Object.entries(documents)) {
    await measure(text, null); // a warm process
    const { outcome, milliseconds } = await leastOf(runs, () => measure(text, null));
    results[name] = { outcome, milliseconds, length: text.length };
  }
  return results;
}

/** Returns what became of all documents, how long they took, and the memory before any is read. */
async function runTimed(documents, count, seed, runs) {
  globalThis.gc?.();
  const idle = process.memoryUsage().heapUsed; // with all documents
  const slow = await runSlow(documents, runs);
  return { idle, slow, changed: await runChanged(count, seed, openTask, runs) };
}

/**
 * Returns how many blocks of the package each slow document executes, and the most of others.
 * Only code that runs for the first time after the start of the counter is counted block by block.
 */
export async function runWork(documents, count, seed, open = openTask) {
  const tasks = await goldenTasks();
  const random = seeded(seed);
  const counter = new WorkCounter();
  counter.start();
  const blocksOf = async (text) => {
    await measure(text, null, open);
    return counter.take();
  };
  for (const task of tasks) await blocksOf(JSON.stringify(task)); // loads modules
  const slow = {};
  for (const [name, text] of Object.entries(documents)) slow[name] = await blocksOf(text);
  let changed = 0;
  for (let i = 0; i < count; i++)
    changed = Math.max(changed, await blocksOf(changedTask(tasks, random)));
  counter.stop();
  return { slow, changed };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const isWork = given.includes("work");
  const [count, seed, runs] = given.filter((word) => /^\d+$/.test(word)).map(Number);
  const [, path] = given.map((word) => word.split("--documents=")).find((parts) => parts[1]) ?? [];
  const [task] = await goldenTasks();
  const documents = slowTasks(task);
  if (path) Object.assign(documents, JSON.parse(await readFile(path, "utf8")));
  const results = isWork
    ? await runWork(documents, count, seed)
    : await runTimed(documents, count, seed, runs);
  console.log(JSON.stringify(results, undefined, 2));
}
