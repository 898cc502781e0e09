// Every golden row that a client needs, against the built modules: integers and bytes exactly.
// Runs alike in Node and in browsers; the caller says how a file is read, and how a ledger of a name is opened.

import { answered, opened } from "../dist/client/ledger_file.js";
import { hex, unhex } from "../dist/bytes.js";
import { canonical, digest, digestBytes, parse } from "../dist/wire/codec.js";
import { Client } from "../dist/client/client.js";
import { asks, choiceCoin, enrolled, pick, place } from "../dist/core/coin.js";
import { sealed } from "../dist/wire/envelope.js";
import { BudgetError, CodecError, DomainError, MismatchError, ParameterError, SottovoceError } from "../dist/errors.js";
import { affineHash, masks, permute, wordsOf, xxh32 } from "../dist/maths/hashing.js";
import { KeyedRandom } from "../dist/core/keyed_rng.js";
import { load, readDomain, readEncoding, readFamily, readMechanism } from "../dist/core/registry.js";
import { MemoryLedger } from "../dist/client/ledger.js";
import { remembering, tagOf } from "../dist/client/permanent.js";
import { message, questions } from "../dist/client/message.js";
import { halves, multiplyHigh } from "../dist/core/rng.js";
import { checkRound, readNotice, readRound } from "../dist/tasks/notice.js";
import { RecordedRandom } from "./recorded.js";

/** Sections of claimed files that only collectors compute, and files that nobody but them needs. */
export const COLLECTORS = ["envelope.streams", "envelope.malformed", "envelope.misplaced"];
export const FILES = [
  "choice",
  "discovery",
  "envelope",
  "hash",
  "ledger",
  "longitudinal",
  "marginals",
  "memo",
  "numbers",
  "perturb",
  "tables",
  "task_id",
  "thresholds",
];

export const CHECKS = {
  "task_id.documents": checkDocument,
  "task_id.texts": checkText,
  "task_id.tasks": checkTask,
  "task_id.refused": checkRefused,
  "hash.xxh32": checkXxh32,
  "hash.words": checkWords,
  "hash.affine": checkAffine,
  "thresholds.computed": checkComputed,
  "thresholds.checked": checkChecked,
  "perturb.draws": checkDraw,
  "perturb.reports": checkReport,
  "choice.pick": checkPick,
  "choice.coins": checkCoin,
  "choice.picks": checkPicks,
  "choice.shares": checkShare,
  "choice.enrolled": checkEnrolled,
  "discovery.indices": checkHeld,
  "discovery.encodings": checkEncoding,
  "discovery.misfits": checkMisfit,
  "discovery.malformed": checkMalformed,
  "discovery.questions": checkQuestion,
  "discovery.picks": checkFamily,
  "discovery.tasks": checkTask,
  "discovery.refused": checkRefused,
  "discovery.messages": checkMessage,
  "discovery.lasting": checkLasting,
  "envelope.envelopes": checkEnvelope,
  "envelope.messages": checkMessage,
  "numbers.indices": checkIndex,
  "ledger.scripts": checkScript,
  "longitudinal.tasks": checkTask,
  "longitudinal.tags": checkTag,
  "longitudinal.lives": checkLife,
  "longitudinal.refused": checkRefusedRound,
  "marginals.encodings": checkEncoding,
  "marginals.misfits": checkMisfit,
  "marginals.malformed": checkMalformed,
  "marginals.picks": checkMember,
  "marginals.tasks": checkTask,
  "marginals.refused": checkRefused,
  "marginals.messages": checkMessage,
  "memo.streams": checkStream,
  "memo.refused": checkShortSecret,
  "memo.responses": checkResponse,
  "tables.indices": checkHoldings,
  "tables.cells": checkCells,
  "tables.misfits": checkMisfits,
  "tables.malformed": checkChanges,
  "tables.layers": checkLayers,
  "tables.messages": checkAnswers,
  "tables.undeclared": checkUndeclared,
};

/** Returns how many rows of each section ran and what failed; rows of another reader are counted apart. */
export async function runGolden(read, open) {
  const rows = {};
  const failures = [];
  for (const file of FILES) {
    for (const [section, listed] of Object.entries(await read(file))) {
      if (!Array.isArray(listed)) continue;
      const name = `${file}.${section}`;
      if (COLLECTORS.includes(name)) continue;
      if (!CHECKS[name]) failures.push(`${name}: nobody checks this section`);
      else await runSection(name, listed, open, rows, failures);
    }
  }
  for (const name of Object.keys(CHECKS)) if (!rows[name]) failures.push(`${name}: this section has gone`);
  return { rows, failures };
}

async function runSection(name, listed, open, rows, failures) {
  const forCollectors = (row) => row.reader === "task"; // reads the plan, which a device leaves unread
  const mine = listed.filter((row) => !forCollectors(row));
  for (const [place, row] of mine.entries()) {
    try {
      await CHECKS[name](row, { open, name: `${name}.${place}` });
      rows[name] = (rows[name] ?? 0) + 1;
    } catch (error) {
      failures.push(`${name}[${place}] ${row.comment ?? ""}: ${error}`);
    }
  }
  const others = listed.length - mine.length;
  if (others) rows[`${name} (for collectors)`] = others;
}

function same(found, wanted) {
  const show = (value) => JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
  if (show(found) !== show(wanted)) throw new Error(`found ${show(found)} instead of ${show(wanted)}`);
}

async function refuses(work, ...classes) {
  try {
    await work();
  } catch (error) {
    if (classes.some((one) => error instanceof one)) return;
    throw new Error(`refused as ${error.name}: ${error.message}`);
  }
  throw new Error("was not refused");
}

async function mechanismOf(content) {
  return readAs(readMechanism, content);
}

async function readAs(read, content) {
  const document = parse(JSON.stringify(content));
  await load(document);
  return read(document);
}

/** The round that puts this to everybody. */
async function asking(ask) {
  return readAs(readRound, { kind: "round", number: 0, ask, low: 0, high: String(2n ** 64n) });
}

/** A row's value: a whole number in decimals is one that JSON may not hold exactly. */
function givenOf(row) {
  return "number" in row ? BigInt(row.number) : row.value;
}

/** Numbers that rows write as 32-bit words, as decimals or as they are. */
function indexOf(index) {
  return Array.isArray(index) ? numberOf(index) : BigInt(index);
}

async function noticeOf(text) {
  const content = parse(text);
  await load(content);
  return readNotice(content);
}

function numberOf(words) {
  return words.reduceRight((number, word) => (number << 32n) | BigInt(word), 0n);
}

function valueOf(value) {
  return Array.isArray(value) ? numberOf(value) : typeof value === "string" ? BigInt(value) : value;
}

function checkDocument(row) {
  const content = parse(JSON.stringify(row.content));
  same(canonical(content), row.canonical);
  same(digest(content), row.digest);
  same(hex(digestBytes(content)), row.digest_hex);
}

function checkText(row) {
  same(canonical(parse(row.text)), row.canonical);
  same(canonical(parse(row.canonical)), row.canonical);
}

async function checkTask(row) {
  checkDocument(row);
  const notice = await noticeOf(row.canonical);
  same(notice.digest, row.digest);
  same(hex(notice.digestBytes), row.digest_hex);
  same(notice.opening.wording, canonical(row.content.opening.ask));
}

async function checkRefused(row) {
  const read = { parse, notice: noticeOf }[row.reader];
  await refuses(() => read(row.text), CodecError, ParameterError);
}

function checkXxh32(row) {
  const hash = xxh32(Uint32Array.from(row.words), row.seed);
  same(hash, row.hash);
  same(multiplyHigh(hash, row.buckets), row.bucket);
}

function checkWords(row) {
  same([...wordsOf(BigInt(row.value), row.bits)], row.words);
}

function checkAffine({ bits, rank, ...row }) {
  const seed = BigInt(row.seed);
  const found = masks(Number(seed & 0xffffffffn), Number(seed >> 32n), bits, rank);
  const cut = (1n << BigInt(bits)) - 1n;
  same(
    found.map((mask) => numberOf([...mask]) & cut),
    row.masks.map(numberOf),
  );
  same(
    found.reduce((offsets, mask, r) => offsets | ((mask.at(-1) >>> 31) << r), 0),
    row.offsets,
  );
  const point = row.permuted ? permute(numberOf(row.value), bits, row.groups) : numberOf(row.value);
  same(point, numberOf(row.point));
  same(affineHash(found, wordsOf(point, bits)), row.hash);
}

async function checkComputed(row) {
  const { ratio } = await mechanismOf(row.document); // a client reads thresholds and need not compute them
  const [top, bottom] = row.ratio.split("/").map(BigInt);
  same(ratio[0] * (bottom ?? 1n), ratio[1] * top);
}

async function checkChecked(row) {
  if (row.accepted) await mechanismOf(row.document);
  else await refuses(() => mechanismOf(row.document), CodecError, ParameterError);
}

function checkDraw(row) {
  const random = new RecordedRandom(unhex(row.random));
  const drawn = row.draw === "bernoulli" ? coins(random, row) : integers(random, BigInt(row.limit), row.count);
  same(drawn.map(String), row.drawn.map(String));
  same(random.consumed, row.consumed);
}

function coins(random, { threshold, count }) {
  return Array.from({ length: count }, () => random.bernoulli(halves(BigInt(threshold))));
}

/** Several at once: all are drawn, then the rejected ones again in their order. */
function integers(random, limit, count) {
  const attempt = () => (limit < 1n << 32n ? random.attempt(Number(limit)) : random.attemptWide(limit));
  const drawn = Array.from({ length: count }, attempt);
  while (drawn.some((one) => one < 0)) {
    for (const place of [...drawn.keys()].filter((at) => drawn[at] < 0)) drawn[place] = attempt();
  }
  return drawn;
}

async function checkReport(row) {
  const mechanism = await mechanismOf(row.mechanism);
  const random = new RecordedRandom(unhex(row.random));
  const payload = mechanism.instantaneous(mechanism.permanent(valueOf(row.value), random), random);
  same(hex(payload), row.payload);
  same(random.consumed, row.consumed);
  same(payload.length, mechanism.width);
}

function checkPick(row) {
  same(pick({ members: Array(row.members).fill(null), weights: row.weights }, BigInt(row.coin)), row.member);
}

function checkCoin(row) {
  same(place(unhex(row.secret), row.digest), row.coin);
}

function checkPicks(row) {
  const coin = choiceCoin(unhex(row.secret), row.round, row.slot);
  same(coin, row.coin);
  same(pick({ members: row.weights, weights: row.weights }, coin), row.member);
}

function checkShare(row) {
  same(asks({ low: BigInt(row.low), high: BigInt(row.high) }, BigInt(row.coin)), row.asked);
}

function checkEnrolled(row) {
  const kept = enrolled(row.token, row.digest);
  same(hex(kept), row.secret);
  same(place(kept, row.digest), row.coin);
}

function checkEnvelope({ hex: whole, digest: task, id, payload, subject, ...row }) {
  const bytes = { digest: unhex(task), id: unhex(id), payload: unhex(payload), subject: subject && unhex(subject) };
  same(hex(sealed({ ...row, ...bytes })), whole);
}

async function checkMessage(row) {
  const notice = await noticeOf(JSON.stringify(row.task));
  const round = row.round ? await readAs(readRound, row.round) : notice.opening;
  const [kept, random] = [unhex(row.secret), new RecordedRandom(unhex(row.random))];
  same(asks(round, place(kept, notice.digest)), true);
  const made = message(notice, round, questions(notice, round, kept), notice.domain.index(givenOf(row)), random);
  same(hex(made), row.message);
  same(random.consumed, row.consumed);
}

async function checkScript(row, { open, name }) {
  let time = 0;
  const now = () => time;
  const windows = row.windows.map((one) => ({ ...one, epsilon: Number(one.epsilon) }));
  let ledger = open(name, { cap: Number(row.cap), windows, now });
  for (const event of row.events) {
    if (event.event === "answer") {
      time = event.time;
      same(await accepted(ledger, event), event.accepted);
    } else if (event.event === "opt-out") await ledger.optOut(event.task ?? "");
    else if (event.event === "restart") ledger = open(name, { now });
    else throw new Error("an unknown event");
  }
  same((await ledger.spent()).spent, Number(row.spent));
}

async function accepted(ledger, { task, epsilon, round, lasting }) {
  const spend = { task, name: task, epsilon, round, lasting };
  try {
    await ledger.update((book) => answered(book, spend, ledger.now(), () => Uint8Array.of(1)));
    return true;
  } catch (error) {
    if (error instanceof BudgetError) return false;
    throw error;
  }
}

function checkTag(row) {
  same(tagOf(unhex(row.secret), row.slot, row.index), row.tag);
}

async function checkLife(row) {
  const notice = await noticeOf(JSON.stringify(row.task));
  const { digest: task, name, epsilon } = notice;
  const memo = {};
  const memory = { secret: unhex(row.secret), slot: (number) => (memo[number] ??= []) };
  let book = opened(undefined, { cap: 20 });
  for (const answer of row.answers) {
    const round = answer.round ? checkRound(notice, readRound(parse(JSON.stringify(answer.round)))) : notice.opening;
    const asked = questions(notice, round, unhex(row.coin));
    const [index, random] = [notice.domain.index(answer.value), new RecordedRandom(unhex(answer.random))];
    const make = () => message(notice, round, asked, index, random, remembering(notice, memory));
    same(hex(answered(book, { task, name, epsilon, round: round.number, lasting: true }, 0, make)), answer.message);
    same(random.consumed, answer.consumed);
    same(
      book.charges.map((charge) => charge.epsilon),
      [row.task.epsilon],
    );
    book = JSON.parse(JSON.stringify(book));
  }
}

async function checkRefusedRound(row) {
  const ledger = new MemoryLedger();
  const answer = async () => {
    const client = await Client.open(JSON.stringify(row.task), ledger);
    await client.answer(row.value, await client.round(parse(JSON.stringify(row.round))));
  };
  await refuses(answer, DomainError, MismatchError, ParameterError);
  same((await ledger.spent()).spent, 0);
}

async function checkIndex(row) {
  const document = parse(JSON.stringify(row.domain));
  await load(document);
  const domain = readDomain(document);
  const value = { inf: Infinity, "-inf": -Infinity, nan: NaN }[row.value] ?? Number(row.value);
  if (row.refused) await refuses(() => domain.index(value), DomainError);
  else same(domain.index(value), row.index);
}

async function checkHeld(row) {
  const domain = await readAs(readDomain, row.domain);
  if (row.refused) return refuses(() => domain.index(givenOf(row)), DomainError);
  const found = domain.index(givenOf(row));
  same(...(row.domain.kind === "sets" ? [found, row.index] : [BigInt(found), indexOf(row.index)]));
}

async function checkEncoding(row) {
  const [domain, encoding] = [await readAs(readDomain, row.domain), await readAs(readEncoding, row.encoding)];
  const random = new RecordedRandom(unhex(row.random));
  same(BigInt(encoding.encode(domain.index(givenOf(row)), random)), indexOf(row.index));
  same(random.consumed, row.consumed);
  same(BigInt(encoding.outputs(domain)), indexOf(row.outputs));
}

async function checkMisfit(row) {
  const [domain, encoding] = [await readAs(readDomain, row.domain), await readAs(readEncoding, row.encoding)];
  await refuses(() => encoding.outputs(domain), ParameterError);
}

async function checkMalformed(row) {
  const readers = { domain: readDomain, encoding: readEncoding, family: readFamily };
  const read = () => readAs(readers[row.family], row.document);
  await (row.accepted ? read() : refuses(read, CodecError, ParameterError));
}

async function checkQuestion(row) {
  if (!row.accepted) return refuses(() => asking(row.question), ParameterError);
  const { mechanism, encoding, epsilon } = (await asking(row.question)).ask;
  const [top, bottom] = row.ratio.split("/").map(BigInt);
  const ratio = encoding?.ratio?.(mechanism) ?? mechanism.ratio;
  same(ratio[0] * (bottom ?? 1n), ratio[1] * top);
  same(epsilon, row.question.epsilon);
}

async function checkFamily(row) {
  const { ask } = await asking(row.ask);
  same(pick(ask, BigInt(row.coin)), row.member);
  const { mechanism, encoding, epsilon } = ask.members.at(row.member);
  const { item } = row.question.encoding;
  same([mechanism.kind, mechanism.epsilon, epsilon], [row.question.mechanism.kind, ask.epsilon, row.question.epsilon]);
  same([encoding.encode([item]), encoding.encode([item + 1]), encoding.encode([])], [1, 0, 0]);
}

/** A member is known by its mechanism and by what it makes of records with all but one attribute zero. */
async function checkMember(row) {
  const [{ ask }, { ask: wanted }] = [await asking(row.ask), await asking(row.question)];
  same(pick(ask, BigInt(row.coin)), row.member);
  const found = ask.members.at(row.member);
  const known = ({ mechanism: { kind, size, ratio, width }, epsilon }) => [kind, size, ratio, width, epsilon];
  same(known(found), known(wanted));
  const { sizes } = row.ask.members;
  const domain = { attributes: sizes.map((size) => ({ size })) };
  same(found.encoding.outputs(domain), wanted.encoding.outputs(domain));
  same(probed(found.encoding, sizes), probed(wanted.encoding, sizes));
}

function probed(encoding, sizes) {
  return sizes.flatMap((size, column) => [0, ...powers(size)].map((bit) => encoding.encode(alone(sizes, column, bit))));
}

/** The bits of the values of an attribute. */
function powers(size) {
  return Array.from({ length: Math.ceil(Math.log2(size)) }, (_, i) => 2 ** i);
}

function alone(sizes, column, value) {
  return sizes.map((_, place) => (place === column ? value : 0));
}

async function checkHoldings(row) {
  const domain = await readAs(readDomain, row.domain);
  for (const [value, index] of row.held) same(domain.index(value), index);
  for (const value of row.refused) await refuses(() => domain.index(value), DomainError);
}

async function checkCells({ domain: content, person, trips, rows }) {
  const domain = await readAs(readDomain, content);
  for (const row of rows) {
    const [encoding, random] = [await readAs(readEncoding, row.encoding), new RecordedRandom(unhex(row.random))];
    const held = domain.index({ people: person, trips: trips.slice(0, row.held) });
    same(encoding.encode(held, random), row.index);
    same([random.consumed, encoding.outputs(domain)], [row.consumed, row.cells]);
  }
}

async function checkMisfits({ domain, encoding, changes }) {
  (await readAs(readEncoding, encoding)).outputs(await readAs(readDomain, domain));
  for (const change of changes) await checkMisfit({ domain, encoding: { ...encoding, ...change } });
}

async function checkChanges({ family, document, accepted, refused }) {
  for (const change of [{}, ...accepted])
    await checkMalformed({ family, document: { ...document, ...change }, accepted: true });
  const removed = Object.keys(document).filter((name) => family !== "domain" || name !== "public");
  const broken = removed.map((name) => Object.fromEntries(Object.entries(document).filter(([key]) => key !== name)));
  for (const one of [...broken, ...refused.map((change) => ({ ...document, ...change }))])
    await checkMalformed({ family, document: one, accepted: false });
}

/** A member is known by its mechanism, and by what its cell makes of some values under the same words. */
async function checkLayers({ family: content, length, members }) {
  const family = await readAs(readFamily, content);
  same([family.length, members.length], [length, length]);
  const { table, columns, sizes, most, mechanisms } = content;
  const blank = { kind: "cell", weighted: false, rounded: [], mirrored: [], aligned: false };
  const domain = { tables: [0, 1].map(() => ({ most, attributes: sizes.map((size) => ({ size })) })) };
  for (const [place, own, mechanism] of members) {
    const found = family.at(place);
    const wanted = await mechanismOf(mechanisms[mechanism]);
    const known = ({ kind, size, groups, epsilon, ratio }) => [kind, size, groups, epsilon, ratio];
    same(known(found.mechanism), known(wanted));
    const encoding = await readAs(readEncoding, { ...blank, table, columns, sizes, most, ...own });
    same(found.encoding.outputs(domain), encoding.outputs(domain));
    for (let turn = 0; turn < 8; turn++) same(...[found.encoding, encoding].map((one) => celled(one, content, turn)));
  }
}

/** What a cell makes of a record near one end or the other, and how many bytes it took. */
function celled(encoding, { sizes, most }, turn) {
  const random = new RecordedRandom(Uint8Array.from({ length: 64 }, (_, i) => (i * 89 + turn * 47) & 255));
  const record = sizes.map((size, column) => ((turn >> (column % 3)) & 1 ? size - 1 - (turn % size) : turn % size));
  const held = most ? (turn % 2 ? [record] : []) : record;
  return [encoding.encode({ tables: [held, held] }, random), random.consumed];
}

async function checkAnswers({ task, digest: wanted, answers }) {
  const notice = await noticeOf(JSON.stringify(task));
  same([notice.digest, digest(parse(JSON.stringify(task)))], [wanted, wanted]);
  for (const answer of answers) await checkMessage({ task, ...answer });
}

async function checkUndeclared(row) {
  const client = await Client.open(JSON.stringify(row.task), new MemoryLedger());
  await refuses(() => client.answer(row.value), MismatchError);
  same((await client.ledger.spent()).spent, 0);
}

async function checkLasting(row) {
  const client = await Client.open(JSON.stringify(row.task), new MemoryLedger());
  if (row.accepted) return client.answer(row.value);
  await refuses(() => client.answer(row.value), ParameterError);
  same((await client.ledger.spent()).spent, 0);
}

function checkStream(row) {
  const [whole, halved] = [0, 1].map(() => new KeyedRandom(unhex(row.secret), unhex(row.context)));
  same(hex(whole.bytes(96)), row.bytes);
  same(hex(halved.bytes(5)) + hex(halved.bytes(91)), row.bytes);
}

async function checkShortSecret(row) {
  await refuses(() => new KeyedRandom(unhex(row.secret), unhex(row.context)), SottovoceError);
}

async function checkResponse(row) {
  const mechanism = await mechanismOf(row.mechanism);
  const remember = () => mechanism.permanent(row.value, new KeyedRandom(unhex(row.secret), unhex(row.context)));
  same(hex(remember()), row.permanent);
  same(hex(remember()), row.permanent); // the same memory, the same response
  const random = new RecordedRandom(unhex(row.random));
  same(hex(mechanism.instantaneous(remember(), random)), row.payload);
  same(random.consumed, row.consumed);
}
