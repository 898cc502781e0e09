// A process that does the jobs of tests in Python one after another: a line of JSON in, one out.
// Numbers that JSON cannot hold are written as { "$": text }, and big integers returned as text.

import { createInterface } from "node:readline";

import * as jobs from "./jobs.js";

const SPECIAL = { nan: NaN, inf: Infinity, "-inf": -Infinity };

function revive(_, part) {
  return typeof part?.$ === "string" ? (SPECIAL[part.$] ?? BigInt(part.$)) : part;
}

function replace(_, part) {
  return typeof part === "bigint" ? String(part) : part;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { job, given } = JSON.parse(line, revive);
  let answer;
  try {
    answer = { result: await jobs[job](given) };
  } catch (error) {
    answer = { error: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer, replace)}\n`);
}
