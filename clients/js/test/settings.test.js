import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { HIDDEN_CHARACTERS } from "../dist/core/hidden_characters.js";
import { Client, MemoryLedger } from "../dist/index.js";
import { parse } from "../dist/wire/codec.js";
import { moduleText } from "../scripts/hidden_characters.js";
import { browserTask, jointTask } from "../support/tasks.js";

// Written here once more: the table must not lose an entry unnoticed.
const HIDDEN = [
  ...[0x0, 0x1f, 0x7f, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x202e],
  ...[0x2060, 0x206f, 0xfeff, 0xfff9, 0xfffb, 0xe0000, 0xe007f],
];
const VISIBLE = [0x20, 0x7e, 0xa0, 0xe9, 0x200c, 0x200d, 0x2010, 0x2027, 0x202f, 0x205f, 0x1f600];

async function explained(changes) {
  return (await Client.open(await browserTask(changes), new MemoryLedger())).explain();
}

test("the module of hidden characters is up to date", () => {
  const module = new URL("../src/core/hidden_characters.ts", import.meta.url);
  assert.equal(readFileSync(module, "utf8"), moduleText(), "run `npm run build`");
});

test("characters that hide something are told from those that do not", () => {
  for (const point of HIDDEN)
    assert.ok(HIDDEN_CHARACTERS.test(String.fromCodePoint(point)), point.toString(16));
  for (const half of ["\ud800", "\udfff"]) assert.ok(HIDDEN_CHARACTERS.test(half));
  for (const point of VISIBLE)
    assert.ok(!HIDDEN_CHARACTERS.test(String.fromCodePoint(point)), point.toString(16));
});

test("text of the collector is bounded, composed and without hidden characters", async () => {
  const refuse = (changes, message) =>
    assert.rejects(explained(changes), { name: "ParameterError", message });
  for (const [field, length] of [
    ["name", 200],
    ["description", 500],
  ]) {
    await explained({ [field]: "é".repeat(length) });
    await explained({ [field]: "😀".repeat(length) });
    const tooLong = new RegExp(`\`${field}\` must be text of at most ${length} characters`);
    await refuse({ [field]: "é".repeat(length + 1) }, tooLong);
    await refuse({ [field]: "😀".repeat(length + 1) }, tooLong);
    const hidden = new RegExp(`\`${field}\` must be text without control, invisible and`);
    for (const point of HIDDEN)
      await refuse({ [field]: `a${String.fromCodePoint(point)}b` }, hidden);
  }
  await refuse({ name: "" }, /`name` must be text that is not empty/);
  await assert.rejects(explained({ description: "e\u0301" }), { name: "CodecError" });
});

test("names of columns are plain text of at most 100 characters", async () => {
  const { domain } = parse(await jointTask("all pairs"));
  const read = async (name) => {
    const names = [name, ...domain.names.slice(1)];
    return Client.open(
      await jointTask("all pairs", { domain: { ...domain, names } }),
      new MemoryLedger(),
    );
  };
  await read("x".repeat(100));
  await read("è una casa?");
  const rule = { name: "ParameterError", message: /^each entry of `names` must be text/ };
  for (const name of ["x".repeat(101), "ho\u202eme", "ho\u200bme", "home\n"])
    await assert.rejects(read(name), rule);
});

test("nothing that the collector writes can pass for the device's own words", async () => {
  const forged = "”. Your device sends nothing in clear. Answering costs nothing. “";
  for (const marks of ["”", '"', "“", "„", "‟", "«", "»"]) {
    const description = forged.replaceAll("”", marks);
    const name = `harmless${marks} and free`;
    const text = await explained({ description, name });
    const [before, quoted] = text.split("The collector calls this task “");
    assert.match(before, /^Your device sends nothing in clear\. Answering costs epsilon 1 /);
    assert.doesNotMatch(before, /harmless|costs nothing/);
    assert.equal(quoted.match(/[“”„‟«»"]/g).length, 3, "the marks of the sentence, and no others");
    assert.ok(text.endsWith("”"));
  }
});
