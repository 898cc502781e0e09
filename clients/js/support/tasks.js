// Task documents for tests: those of the golden files, with other names, prices and collections.

import { readFile } from "node:fs/promises";

import { canonical, digest, parse } from "../dist/wire/codec.js";

const golden = async (file) =>
  JSON.parse(await readFile(new URL(`../../../tests/golden/${file}.json`, import.meta.url)));

export const COLLECTION = {
  kind: "collection",
  crowd: 0,
  enrolment: false,
  grace: 60,
  minimum: 50,
  quota: 0,
  retention: 90,
  sandbox: false,
  seconds: 0,
};

/** What the later rounds of a task may be. */
export function roundLimits(changes = {}) {
  const kinds = { mechanisms: ["grr"], encodings: [] };
  return { kind: "roundlimits", count: 3, width: 1, ...kinds, ...changes };
}

/** A question with four answers, for epsilon 1. */
export async function browserTask(changes = {}) {
  return text({ ...(await golden("task_id")).tasks[0].content, ...changes });
}

/** A longitudinal task: five answers, of which two are paid for. */
export async function whereTask(changes = {}) {
  const isWhere = ({ task }) => task.name === "where" && task.distinct === 2;
  const { task } = (await golden("longitudinal")).lives.find(isWhere);
  return text({ ...task, ...changes });
}

/** A search for long texts, values of some bits, or items of sets, which asks everybody. */
export async function discoveryTask(comment, changes = {}) {
  const { content } = (await golden("discovery")).tasks.find((row) => row.comment === comment);
  const opening = { ...content.opening, low: 0, high: String(2n ** 64n) };
  return text({ ...content, opening, ...changes });
}

/** Joint statistics of a record, by views of it. */
export async function jointTask(comment, changes = {}) {
  const { content } = (await golden("marginals")).tasks.find((row) => row.comment === comment);
  return text({ ...content, ...changes });
}

/** Everybody's whole record, without a choice of views; devices leave the plan unread. */
export async function wholeRecordTask(changes = {}) {
  const { picks, tasks } = await golden("marginals");
  const isWhole = ({ question }) => question.encoding.columns.length === 4;
  const { content } = tasks[0];
  const opening = { ...content.opening, ask: picks.find(isWhole).question };
  return text({ ...content, opening, ...changes });
}

/** Tables for SQL: a shop, its orders, a pair of numbers, or large ones. */
export async function tableTask(name, changes = {}) {
  const { task } = (await golden("tables")).messages.find((row) => row.task.name === name);
  return text({ ...task, ...changes });
}

export function text(content) {
  return canonical(parse(JSON.stringify(content)));
}

export function digestOf(document) {
  return digest(parse(document));
}

export function roundOf(document, number = 0, changes = {}) {
  return { ...parse(document).opening, number, ...changes };
}
