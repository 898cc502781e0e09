import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { BudgetError, Client, MemoryLedger } from "../dist/index.js";
import { explain, statement } from "../dist/wire/statement.js";
import { Device, LANGUAGES } from "../dist/node.js";
import { TEXTS } from "../dist/wire/statement_texts/en.js";
import { languages, moduleText } from "../scripts/statement_texts.js";
import {
  browserTask,
  COLLECTION,
  discoveryTask,
  jointTask,
  tableTask,
  whereTask,
  wholeRecordTask,
} from "../support/tasks.js";

const DEVICE = { spent: 0, cap: 10, windows: [] };

async function textOf(document, ledger = new MemoryLedger()) {
  return (await Client.open(document, ledger, { token: "token" })).explain();
}

/** Checks that the parts stand in the text in this order. */
function assertInOrder(text, ...parts) {
  let position = 0;
  for (const part of parts) {
    const found = text.indexOf(part, position);
    assert.ok(found >= 0, `"${part}" is missing, or too early, in: ${text}`);
    position = found + part.length;
  }
}

test("the modules of sentences are up to date", () => {
  assert.deepEqual(languages().sort(), LANGUAGES.toSorted());
  for (const language of languages()) {
    const path = new URL(`../src/wire/statement_texts/${language}.ts`, import.meta.url);
    assert.equal(readFileSync(path, "utf8"), moduleText(language), "run `npm run build`");
  }
});

test("a statement is told in the language that is asked for, with its marks", async () => {
  const collection = { ...COLLECTION, minimum: 2000 };
  const document = await browserTask({ description: "Which „browser“?", collection });
  const client = await Client.open(document, new MemoryLedger({ cap: 2.5 }));
  const text = await client.explain(client.notice.opening, "de");
  assertInOrder(
    text,
    "Ihr Gerät sendet nichts im Klartext. Eine Antwort kostet Epsilon 1 ",
    "den Faktor 2,72 ändern.",
    "Dieses Gerät hat bisher 0 von 2,5 ausgegeben.",
    "einmal nach einer von 4 möglichen Antworten.",
    "weniger als 2.000 Personen",
    "nennt diese Aufgabe „browser“ und beschreibt sie so: „Which 'browser'?“",
  );
});

test("an unknown language is refused with the names of those that exist", async () => {
  const client = await Client.open(await browserTask(), new MemoryLedger());
  const refused = { name: "ParameterError", message: /`language` .* en, de, es, fr, it, pt/ };
  for (const language of ["xx", "toString", "en-GB"]) {
    await assert.rejects(client.explain(undefined, language), refused);
    const device = () => new Device("https://c.example", { ledger: new MemoryLedger(), language });
    assert.throws(device, refused);
  }
});

test("every kind that a device can load has its sentence", () => {
  const registry = readFileSync(new URL("../src/core/registry.ts", import.meta.url), "utf8");
  const kindsOf = (name) => {
    const table = registry.match(new RegExp(`const ${name}: Kinds = {(.*?)};`, "s"))[1];
    return [...table.matchAll(/^ {2}(\w+):/gm)].map((match) => match[1]);
  };
  assert.deepEqual(Object.keys(TEXTS.mechanisms), kindsOf("MECHANISMS"));
  assert.deepEqual(Object.keys(TEXTS.encodings), kindsOf("ENCODINGS"));
  assert.deepEqual(Object.keys(TEXTS.values), kindsOf("DOMAINS"));
});

test("the text leads with clear data and price, and ends with the collector's words", async () => {
  const collection = { ...COLLECTION, enrolment: true, minimum: 2000, retention: 30, crowd: 8 };
  const description = "Which browser? It costs nothing.";
  const text = await textOf(await browserTask({ description, collection }));
  assertInOrder(
    text,
    "Your device sends nothing in clear. Answering costs epsilon 1 of your privacy budget.",
    "a factor of at most 2.72.",
    "This device has spent 0 of 10 so far.",
    "The task asks your device once for one of 4 possible answers.",
    "another possible answer (generalised randomised response).",
    "nothing about fewer than 2,000 people, and to erase the messages after 30 days.",
    "no value that it estimates for fewer than 8 people.",
    "Answering needs an enrolment token",
    "The collector calls this task “browser” and describes it like this:",
  );
  assert.ok(text.endsWith(`“${description}”`));
});

test("public columns are named first", async () => {
  const text = await textOf(await tableTask("shop"));
  const clear = "Your device sends these columns in clear, without any protection: ";
  assert.ok(text.startsWith(`${clear}“people.weight”, “people.area”. Answering costs epsilon 3`));
  assertInOrder(
    text,
    "Your device sends 3 reports, and this is the price of all of them together.",
    "your entries in “people”, “orders”.",
    "only some columns of your record in “people”",
    "2 of your records in “orders”, or made-up ones",
    "(affine response), or sends your answer or, by chance,",
  );
  assert.match(await textOf(await tableTask("pair")), /^Your device sends nothing in clear\./);
});

test("a longitudinal task says what a life and what a single message costs", async () => {
  assertInOrder(
    await textOf(await whereTask()),
    "Answering costs epsilon 4",
    "Whoever sees all your messages",
    "a factor of at most 54.60.",
    "You pay once, for 2 different values: epsilon 2 for each",
    "only one message learns at most epsilon 0.94123.",
    "may notice that your answer has changed",
    "asks your device in every round",
  );
});

test("a rehearsal says that it costs nothing, and no more of costs", async () => {
  const collection = { ...COLLECTION, sandbox: true };
  for (const document of [await browserTask({ collection }), await whereTask({ collection })]) {
    const text = await textOf(document);
    assert.match(text, /^This is a rehearsal: .* costs nothing\. This device has spent 0 of 10/);
    assert.doesNotMatch(text, /epsilon|factor|randomises/);
  }
});

test("the windows of the ledger are listed, the shortest first", async () => {
  const windows = [
    { seconds: 604_800, epsilon: 5, reports: 1 },
    { seconds: 5400, epsilon: 1.5, reports: 4 },
    { seconds: 0.5, epsilon: 1, reports: 2 },
  ];
  const ledger = new MemoryLedger({ windows, clock: () => 1000 });
  const document = await browserTask();
  await (await Client.open(document, ledger)).answer("firefox");
  assertInOrder(
    await textOf(document, ledger),
    "This device has spent 1 of 10 so far.",
    "Within 0.5 seconds it may spend 1 in 2 answers; it has spent 1 in 1.",
    "Within 90 minutes it may spend 1.5 in 4 answers; it has spent 1 in 1.",
    "Within 7 days it may spend 5 in 1 answer; it has spent 1 in 1.",
  );
  const other = await Client.open(await browserTask({ name: "other" }), ledger);
  await assert.rejects(other.answer("firefox"), BudgetError);
});

test("the text says which part of an answer is used", async () => {
  const parts = [
    [discoveryTask("values of 48 bits"), "only a part of your answer, such as its beginning; a"],
    [discoveryTask("few items: direct response"), "only one of your items, drawn at random"],
    [discoveryTask("so few that sizes are asked first"), "only the number of your items."],
    [jointTask("all pairs"), "only some parts of your record, together; a public"],
    [wholeRecordTask(), "several parts of your record together."],
  ];
  for (const [document, part] of parts)
    assertInOrder(await textOf(await document), `Your device uses ${part}`);
});

test("mechanisms that send the same are named together", async () => {
  const client = await Client.open(await jointTask("all pairs"), new MemoryLedger());
  const facts = statement(client.notice, client.notice.opening, DEVICE);
  assert.deepEqual(facts.mechanisms, ["affine", "grr"]);
  const mechanisms = ["affine", "affine_prefix", "grr", "olh"];
  const text = explain({ ...facts, mechanisms }, TEXTS);
  assertInOrder(text, "(affine response, optimised local hashing), or sends your answer or, by");
});

test("a kind without a sentence is described in general words", async () => {
  const client = await Client.open(await browserTask(), new MemoryLedger());
  const facts = statement(client.notice, client.notice.opening, DEVICE);
  const unknown = { mechanisms: ["toString"], encodings: ["toy"], values: { kind: "toy" } };
  assertInOrder(
    explain({ ...facts, ...unknown }, TEXTS),
    "asks your device once for an answer.",
    "uses a value that it computes from your answer (toy).",
    "it sends a random report that depends on your answer (toString).",
  );
});
