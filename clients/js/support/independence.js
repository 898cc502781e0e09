// What somebody sees of a device that answers a task, under a fixed random stream, a fixed clock
// and some state of its ledger.  It runs in a page; the server that is given records the requests.

import { BrowserLedger, Client, Device } from "../dist/browser.js";
import { unhex } from "../dist/bytes.js";
import { tagOf } from "../dist/client/permanent.js";
import { SottovoceError } from "../dist/errors.js";

const TIME = 1_000_000; // seconds

/** The values that people hold; some of them make the device run code of theirs. */
export const VALUES = {
  first: (domain) => honest(domain, 0),
  last: (domain) => honest(domain, 1),
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

/** Returns the first or the last value of a domain, as far as its document makes sense. */
function honest(domain, end) {
  const entries = (names, parts) =>
    Object.fromEntries(names.map((name, i) => [name, honest(parts[i], end)]));
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
    services: ({ names, tables }) =>
      names.length > 1 ? entries(names, tables) : honest(tables[0], end),
  };
  try {
    return makers[domain.kind](domain);
  } catch {
    return undefined;
  }
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
 * Returns what can be seen in every run, one after another; a request for the page marks the
 * beginning of each.  `mistake` names one that devices have.
 */
export async function observeAll({ runs, mistake }) {
  const repair = MISTAKES[mistake]();
  const seen = [];
  for (const run of runs) {
    await fetch("/page");
    seen.push(await observe(run));
  }
  repair();
  return seen;
}

/** Returns what can be seen of a device with this value, and whether the value is in the domain. */
async function observe(given) {
  const { run, url, name, domain, state, value, delay, seed, agrees, token } = given;
  const held = () => VALUES[value](domain);
  const draws = fixRandomness(seed);
  const windows = [{ seconds: 60, epsilon: 10, reports: 4 }];
  const ledger = new BrowserLedger({ name: run, cap: 20, windows, clock: () => TIME });
  await ledger.update((file) => void STATES[state](file, url, name));
  await answerEarlier(ledger, given);
  const reasons = [];
  let isInside;
  const device = new Device(url, {
    ledger,
    delay,
    token,
    notify: (reason) => reasons.push(reason),
    consent: (notice) => {
      isInside = holds(notice.domain, held());
      return agrees;
    },
  });
  const outcome = await device.answer(name, held()).then(
    (message) => `a message of ${message.length} bytes`,
    (error) => `${error.name}: ${error.message}`,
  );
  device.close();
  const seen = await ledger.update(({ charges, outbox, tasks, meanings, refused }) => ({
    charges,
    meanings,
    refused,
    outbox: outbox.map(({ message, ...report }) => ({ ...report, length: message.length })),
    tasks: Object.values(tasks).map((entry) => lengthsOf(entry, given.earlier)),
  }));
  const text = JSON.stringify({ outcome, draws: draws(), ...seen });
  return { text, outcome, isInside, told: reasons.length };
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

/** Replaces the system's randomness; returns a function that says how much was drawn. */
function fixRandomness(seed) {
  let state = seed >>> 0;
  let drawn = 0;
  crypto.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      bytes[i] = state >>> 24;
    }
    drawn += bytes.length;
    return array;
  };
  return () => drawn;
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

const MISTAKES = { none: () => () => {}, lookFirst, refuseFurther };
