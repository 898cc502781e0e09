// What somebody sees of a device that answers a task and sends the message when it is due, under a
// fixed random stream, a clock of its own and some state of its ledger.  It runs in a page; the
// server that is given records the requests, and is told the time before each of them.

import { BrowserLedger, Client, Device } from "../dist/browser.js";
import { unhex } from "../dist/bytes.js";
import { Ledger } from "../dist/client/ledger.js";
import { tagOf } from "../dist/client/permanent.js";
import { SystemRng } from "../dist/core/rng.js";
import { SottovoceError } from "../dist/errors.js";

const TIME = 1_000_000; // seconds
const systemWord = SystemRng.prototype.word;

let now = TIME;

/** The values that people hold; some of them make the device run code of theirs. */
export const VALUES = {
  first: (domain) => honest(domain, 0),
  last: (domain) => honest(domain, 1),
  wrong: (domain) => honest(domain, 0, () => "nowhere"),
  firefox: () => "firefox",
  konqueror: () => "konqueror",
  home: () => "home",
  text: () => "hello, world",
  three: () => 3,
  many: () => 10n ** 40n,
  temperature: () => 36.6,
  nothing: () => null,
  missing: () => undefined,
  basket: () => ["fig", "kiwi"],
  house: () => ({ home: "house", car: "yes", rooms: 3, pet: 0 }),
  pair: () => ({ a: 999, b: 1 }),
  orders: () => [{ price: 3 }, { price: 7 }],
  hostile: () =>
    new Proxy([], {
      get() {
        throw new Error("the secret");
      },
    }),
  cyclic: () => {
    const value = { home: "house" };
    value.home = value;
    return value;
  },
};

/**
 * Returns the first or the last value of a domain, as far as its document makes sense.  Public
 * columns hold their first value; `changed` changes the others.
 */
function honest(domain, end, changed = (value) => value) {
  const entries = (names, parts, side = end) =>
    Object.fromEntries(names.map((name, i) => [name, honest(parts[i], side)]));
  const tableOf = (name, table, open) => {
    const hidden = honest(table, end);
    const isOwn = (column) => column.startsWith(`${name}.`);
    if (!open.names.some(isOwn)) return hidden;
    const own = open.names.filter(isOwn).map((column) => column.slice(name.length + 1));
    const parts = open.attributes.filter((_, i) => isOwn(open.names[i]));
    return { ...mapped(hidden, changed), ...entries(own, parts, 0) };
  };
  const makers = {
    categories: ({ labels }) => labels.at(-end),
    integers: ({ low, high }) => BigInt(end ? high : low),
    numbers: ({ low, high }) => Number(end ? high : low),
    buckets: ({ low, high }) => Number(end ? high : low),
    bits: ({ bits }) => (end ? 2n ** BigInt(bits) - 1n : 0n),
    strings: () => "hi".slice(end),
    sets: ({ items }) => (end ? [honest(items, end)] : []),
    records: ({ names, attributes }) => entries(names, attributes),
    lists: ({ records }) => Array(7 * end).fill(honest(records, end)),
    services: ({ names, tables, public: open = { names: [], attributes: [] } }) => {
      const values = names.map((name, i) => [name, tableOf(name, tables[i], open)]);
      return names.length > 1 ? Object.fromEntries(values) : values[0][1];
    },
  };
  try {
    return makers[domain.kind](domain);
  } catch {
    return undefined;
  }
}

function mapped(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** What a ledger may hold before the answer; `wait` stands for a report that waits. */
const STATES = {
  fresh: () => {},
  poor: (file) => file.charges.push({ task: "a", name: "a", epsilon: "19.9", time: TIME - 9 }),
  busy: (file) => {
    for (const task of ["a", "b", "c", "d"])
      file.charges.push({ task, name: task, epsilon: "0.01", time: TIME - 9 });
  },
  left: (file) => file.optedOut.push(""),
  full: (file, url) => {
    const posting = { url, name: "a", task: "a", round: 0, posted: TIME, due: TIME + 9000 };
    for (let i = 0; i < 100; i++)
      file.outbox.push({ ...posting, message: `0${i % 10}`, attempts: 0, reason: "" });
  },
  changed: (file, url, name) => {
    const meaning = { declares: "", distinct: "", domain: "another", epsilon: "1.0" };
    file.meanings.push({ origin: url, name, ...meaning });
  },
};

/**
 * Returns what can be seen for every value of every case, one after another; a request for the page
 * marks the beginning of each.  `mistake` names one that devices have.
 */
export async function observeAll({ cases, mistake }) {
  const repair = MISTAKES[mistake]();
  const plain = { fetch: fetch.bind(globalThis), setTimeout: setTimeout.bind(globalThis) };
  const seen = [];
  for (const { values, run, ...given } of cases) {
    const domain = domainIn(given.text);
    for (const [i, value] of values.entries()) {
      await plain.fetch("/page");
      seen.push(await observe({ ...given, domain, run: `${run}-${i}`, value }, plain));
    }
  }
  Object.assign(globalThis, plain);
  repair();
  return seen;
}

/** Returns the domain of a document as far as its text can be read. */
function domainIn(text) {
  try {
    return JSON.parse(text).domain;
  } catch {
    return undefined;
  }
}

/** Returns what can be seen of a device with this value, and whether the value is in the domain. */
async function observe(given, plain) {
  const { run, url, name, domain, state, value, delay, seed, agrees, token, steps } = given;
  const held = () => VALUES[value](domain);
  now = TIME;
  const draws = fixRandomness(seed);
  const timers = tellTimes(plain);
  const windows = [{ seconds: 60, epsilon: 10, reports: 4 }];
  const ledger = new BrowserLedger({ name: run, cap: 20, windows, clock: () => now });
  await ledger.update((file) => void STATES[state](file, url, name));
  await answerEarlier(ledger, given);
  const reasons = [];
  let isInside;
  let isOpen = false;
  const device = new Device(url, {
    ledger,
    delay,
    token,
    accepts: acceptsOf(given),
    notify: (reason) => reasons.push(reason),
    consent: (notice) => {
      isInside = holds(notice.domain, held());
      isOpen = Boolean(notice.domain.publicNames?.length);
      return agrees;
    },
  });
  const outcome = await device.answer(name, held()).then(
    (message) => `a message of ${message.length} bytes`,
    (error) => `${error.name}: ${error.message}`,
  );
  const flushed = await flushAll(device, steps);
  device.close();
  const seen = await ledger.update(({ charges, outbox, tasks, meanings, refused }) => ({
    charges,
    meanings,
    refused,
    outbox: outbox.map(({ message, ...report }) => ({ ...report, length: message.length })),
    tasks: Object.values(tasks).map((entry) => lengthsOf(entry, given.earlier)),
  }));
  const text = JSON.stringify({ outcome, flushed, timers, draws: draws(), ...seen });
  return { text, outcome, isInside, isOpen, told: reasons.length };
}

/** Returns what the app accepts: all public columns of the document, or nothing in particular. */
function acceptsOf({ name, domain, acceptsPublic }) {
  const names = domain?.public?.names;
  if (!acceptsPublic || !Array.isArray(names)) return {};
  return { [name]: { public: names.filter((column) => typeof column === "string") } };
}

/** Lets time pass and sends what is due, until nothing waits; returns what became of it. */
async function flushAll(device, steps) {
  const flushed = [];
  for (const step of steps) {
    now += step;
    flushed.push(await device.flush());
    if (!flushed.at(-1).waiting) break;
  }
  return flushed;
}

/**
 * Tells the server the time before each request of the device, and notes for when the device sets
 * timers, which do not go off: time passes in steps.
 */
function tellTimes(plain) {
  const timers = [];
  globalThis.fetch = async (...request) => {
    await plain.fetch(`/time/${now}`);
    return plain.fetch(...request);
  };
  globalThis.setTimeout = (_, milliseconds) => {
    timers.push([now, milliseconds]);
    return 0;
  };
  return timers;
}

/** Answers earlier rounds of a longitudinal task with the values that are named. */
async function answerEarlier(ledger, { url, text, domain, token, earlier }) {
  for (const [number, value] of earlier.entries()) {
    const client = await Client.open(text, ledger, { origin: url, token });
    const opening = JSON.parse(text).opening;
    const round = await client.round({ ...opening, number });
    await client.answer(VALUES[value](domain), round).catch((error) => {
      if (!(error instanceof SottovoceError)) throw error; // a device with a mistake may refuse
    });
  }
}

/**
 * Returns what a task's entry holds, without the bytes that are random.  How many responses are
 * remembered depends on the values of several rounds, and stays on the device.
 */
function lengthsOf({ messages, responses, ...bytes }, earlier) {
  const lengths = Object.entries(messages).map(([round, { bytes, acknowledged }]) =>
    [round, bytes.length, acknowledged],
  );
  const tags = Object.values(responses).map((slot) => slot.map(({ tag }) => tag.length));
  const counts = earlier.length ? [] : tags;
  return { lengths, counts, kept: Object.keys(bytes) };
}

function holds(domain, value) {
  try {
    domain.index(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Replaces the system's randomness; returns a function that says how many bytes were drawn from it,
 * and how many words of these were used.
 */
function fixRandomness(seed) {
  let state = seed >>> 0;
  let drawn = 0;
  let words = 0;
  SystemRng.prototype.word = function () {
    words++;
    return systemWord.call(this);
  };
  crypto.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      bytes[i] = state >>> 24;
    }
    drawn += bytes.length;
    return array;
  };
  return () => [drawn, words];
}

/**
 * Makes devices look at the value first and refuse one outside the domain before the charge;
 * returns a function that mends them.
 */
function lookFirst() {
  const { respond } = Client.prototype;
  Client.prototype.respond = function (file, value, round, ...others) {
    this.notice.domain.index(value);
    return respond.call(this, file, value, round, ...others);
  };
  return () => void (Client.prototype.respond = respond);
}

/**
 * Makes devices draw a random index for values outside of the domain alone; returns a function that
 * mends them.
 */
function drawLazily() {
  const { respond } = Client.prototype;
  Client.prototype.respond = function (file, value, ...others) {
    const { domain, collection } = this.notice;
    if (collection?.sandbox || !holds(domain, value))
      return respond.call(this, file, value, ...others);
    const plain = Object.getOwnPropertyDescriptor(domain, "randomIndex");
    domain.randomIndex = () => 0;
    try {
      return respond.call(this, file, value, ...others);
    } finally {
      if (plain) Object.defineProperty(domain, "randomIndex", plain);
      else delete domain.randomIndex;
    }
  };
  return () => void (Client.prototype.respond = respond);
}

/**
 * Makes devices send the answers to values outside of the domain without a delay; returns a
 * function that mends them.
 */
function sendHastily() {
  const { respond } = Client.prototype;
  const { update } = Ledger.prototype;
  let isOutside = false;
  Client.prototype.respond = function (...given) {
    const answer = respond.apply(this, given);
    isOutside = answer.outside !== undefined;
    return answer;
  };
  Ledger.prototype.update = function (work) {
    return update.call(this, (file) => {
      isOutside = false;
      const result = work(file);
      const last = file.outbox.at(-1);
      if (isOutside && last) last.due = last.posted;
      return result;
    });
  };
  return () => {
    Client.prototype.respond = respond;
    Ledger.prototype.update = update;
  };
}

/**
 * Makes devices send random public columns beside the answers to values outside of the domain;
 * returns a function that mends them.
 */
function drawPublic() {
  const { respond } = Client.prototype;
  Client.prototype.respond = function (...given) {
    delete this.notice.domain.withPublicPart;
    return respond.apply(this, given);
  };
  return () => void (Client.prototype.respond = respond);
}

/**
 * Makes devices refuse a new value when as many responses are remembered as a longitudinal task
 * pays for; returns a function that mends them.
 */
function refuseFurther() {
  const { respond } = Client.prototype;
  Client.prototype.respond = function (file, value, ...others) {
    const { digest, distinct, domain } = this.notice;
    const { secret, responses = {} } = file.tasks[digest] ?? {};
    const remembered = responses[0] ?? [];
    if (remembered.length >= distinct && holds(domain, value)) {
      const tag = tagOf(unhex(secret), 0, Number(domain.index(value)));
      if (!remembered.some((response) => response.tag === tag))
        throw new SottovoceError("this task pays for fewer values");
    }
    return respond.call(this, file, value, ...others);
  };
  return () => void (Client.prototype.respond = respond);
}

const MISTAKES = {
  none: () => () => {},
  lookFirst,
  drawLazily,
  sendHastily,
  drawPublic,
  refuseFurther,
};
