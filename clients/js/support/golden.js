// Checks the built modules against every golden row that a client needs; integers and bytes must be
// equal.  It runs in Node and in browsers: the caller says how to read a file and open a ledger.

import { hex, unhex } from "../dist/bytes.js";
import { Client } from "../dist/client/client.js";
import { MemoryLedger } from "../dist/client/ledger.js";
import { answerOnce, openLedgerFile } from "../dist/client/ledger_file.js";
import { questionsFor, writeMessage } from "../dist/client/message.js";
import { permanentPayload, tagOf } from "../dist/client/permanent.js";
import { choiceCoin, enrolledBytes, roundCoin } from "../dist/core/coin.js";
import { KeyedRng } from "../dist/core/keyed_rng.js";
import {
  load,
  readDomain,
  readEncoding,
  readFamily,
  readMechanism,
} from "../dist/core/registry.js";
import { multiplyHigh, thresholdWords } from "../dist/core/rng.js";
import {
  BudgetError,
  CodecError,
  DomainError,
  MismatchError,
  ParameterError,
  SottovoceError,
} from "../dist/errors.js";
import { affineHash, masks, permute, wordsOf, xxh32 } from "../dist/maths/hashing.js";
import { pick } from "../dist/tasks/choice.js";
import { checkRound, readNotice } from "../dist/tasks/notice.js";
import { asksCoin, readRound } from "../dist/tasks/round.js";
import { canonical, digest, fingerprintOf, parse, parseCanonical } from "../dist/wire/codec.js";
import { writeEnvelope } from "../dist/wire/envelope.js";
import { sealingChecks } from "./golden_sealing.js";
import { seedChecks } from "./golden_seeds.js";
import { RecordedRng } from "./recorded_rng.js";

/** The sections that only collectors need, and the files that clients need. */
export const COLLECTORS = [
  "envelope.streams",
  "envelope.malformed",
  "envelope.misplaced",
  "envelope_2.streams",
  "envelope_2.malformed",
  "envelope_2.misplaced",
  "reject.reports",
  "seeds.uncut",
];
export const FILES = [
  "choice",
  "discovery",
  "envelope",
  "envelope_2",
  "hash",
  "key_set",
  "ledger",
  "longitudinal",
  "marginals",
  "memo",
  "numbers",
  "perturb",
  "reject",
  "rfc",
  "seal",
  "seeds",
  "shuffled",
  "tables",
  "task_id",
  "thresholds",
  "tokens",
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
  "discovery.lasting": checkLongitudinal,
  "envelope.envelopes": checkEnvelope,
  "envelope.messages": checkMessage,
  "envelope_2.envelopes": checkEnvelope,
  "envelope_2.unwritable": checkUnwritable,
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
  "reject.documents": checkJudged,
  "tables.indices": checkTables,
  "tables.cells": checkCells,
  "tables.misfits": checkMisfits,
  "tables.malformed": checkChanges,
  "tables.layers": checkLayers,
  "tables.messages": checkAnswers,
  "tables.undeclared": checkUndeclared,
  ...sealingChecks({ same, refuses }),
  ...seedChecks({ same, refuses, recorded, mechanismOf, indexOf }),
};

/** Returns how many rows of each section hold, and the failures; collectors' rows count apart. */
export async function runGolden(readFile, openLedger) {
  const counts = {};
  const failures = [];
  for (const file of FILES) {
    for (const [section, rows] of Object.entries(await readFile(file))) {
      if (!Array.isArray(rows)) continue;
      const name = `${file}.${section}`;
      if (COLLECTORS.includes(name)) continue;
      if (!CHECKS[name]) failures.push(`${name}: no check for this section`);
      else await runSection({ name, rows, openLedger }, counts, failures);
    }
  }
  for (const name of Object.keys(CHECKS))
    if (!counts[name]) failures.push(`${name}: this section is missing`);
  return { rows: counts, failures };
}

async function runSection({ name, rows, openLedger }, counts, failures) {
  const ownRows = rows.filter((row) => row.reader !== "task"); // a device does not read the plan
  for (const [i, row] of ownRows.entries()) {
    try {
      await CHECKS[name](row, { openLedger, ledgerName: `${name}.${i}` });
      counts[name] = (counts[name] ?? 0) + 1;
    } catch (error) {
      failures.push(`${name}[${i}] ${row.comment ?? ""}: ${error}`);
    }
  }
  const forCollectors = rows.length - ownRows.length;
  if (forCollectors) counts[`${name} (for collectors)`] = forCollectors;
}

function same(actual, expected) {
  const exact = (_, part) => (typeof part === "bigint" ? String(part) : part);
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value, exact));
  if (left !== right) throw new Error(`${left} instead of ${right}`);
}

/** Compares a ratio with the text of a fraction. */
function sameRatio([numerator, denominator], text) {
  const [top, bottom = 1n] = text.split("/").map(BigInt);
  same(numerator * bottom, denominator * top);
}

async function refuses(work, ...classes) {
  try {
    await work();
  } catch (error) {
    if (classes.some((errorClass) => error instanceof errorClass)) return;
    throw new Error(`refused as ${error.name}: ${error.message}`);
  }
  throw new Error("was not refused");
}

async function readAs(read, content) {
  const document = parse(JSON.stringify(content));
  await load(document);
  return read(document);
}

async function mechanismOf(content) {
  return readAs(readMechanism, content);
}

async function noticeOf(text) {
  const parsed = parseCanonical(text);
  await load(parsed.document);
  return readNotice(parsed);
}

/** The round that asks everybody. */
async function roundFor(ask) {
  return readAs(readRound, { kind: "round", number: 0, ask, low: 0, high: String(2n ** 64n) });
}

function recorded(row) {
  return new RecordedRng(unhex(row.random));
}

function keyed(row) {
  return new KeyedRng(unhex(row.secret), unhex(row.context));
}

/** The value of a row; JSON may not hold a `number` exactly, so it is written as text. */
function valueOf(row) {
  return "number" in row ? BigInt(row.number) : row.value;
}

/** An index that a row writes as 32-bit words, as decimal text or as a number. */
function indexOf(index) {
  return Array.isArray(index) ? numberOf(index) : BigInt(index);
}

function numberOf(words) {
  return words.reduceRight((number, word) => (number << 32n) | BigInt(word), 0n);
}

function checkDocument(row) {
  const document = parse(JSON.stringify(row.content));
  same(canonical(document), row.canonical);
  same(digest(document), row.digest);
  same(hex(fingerprintOf(canonical(document)).slice(0, 16)), row.digest_hex);
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
  same(canonical(notice.opening.document), canonical(row.content.opening));
}

async function checkRefused(row) {
  const read = { parse, notice: noticeOf }[row.reader];
  await refuses(() => read(row.text), CodecError, ParameterError);
}

async function checkJudged({ text, refused }) {
  if (refused) return refuses(() => noticeOf(text), CodecError, ParameterError);
  same(canonical(parse(text)), text);
  await noticeOf(text);
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
  const rows = masks(Number(seed & 0xffffffffn), Number(seed >> 32n), bits, rank);
  const withoutOffset = (1n << BigInt(bits)) - 1n;
  const numbers = rows.map((mask) => numberOf([...mask]) & withoutOffset);
  same(numbers, row.masks.map(numberOf));
  const offsets = rows.reduce((sum, mask, r) => sum | ((mask.at(-1) >>> 31) << r), 0);
  same(offsets, row.offsets);
  const value = numberOf(row.value);
  const point = row.permuted ? permute(value, bits, row.groups) : value;
  same(point, numberOf(row.point));
  same(affineHash(rows, wordsOf(point, bits)), row.hash);
}

async function checkComputed(row) {
  // A client reads thresholds and need not compute them.
  sameRatio((await mechanismOf(row.document)).worstRatio, row.ratio);
}

async function checkChecked(row) {
  if (row.accepted) await mechanismOf(row.document);
  else await refuses(() => mechanismOf(row.document), CodecError, ParameterError);
}

function checkDraw(row) {
  const rng = recorded(row);
  const drawn = row.draw === "bernoulli" ? drawCoins(rng, row) : drawIntegers(rng, row);
  same(drawn.map(String), row.drawn.map(String));
  same(rng.consumed, row.consumed);
}

function drawCoins(rng, { threshold, count }) {
  const words = thresholdWords(BigInt(threshold));
  return Array.from({ length: count }, () => rng.bernoulli(words));
}

/** Draws several integers at once, and then the rejected ones again in their order. */
function drawIntegers(rng, row) {
  const limit = BigInt(row.limit);
  const isWide = limit >= 1n << 32n;
  const attempt = () => (isWide ? rng.tryWideInteger(limit) : rng.tryInteger(Number(limit)));
  const drawn = Array.from({ length: row.count }, attempt);
  while (drawn.some((integer) => integer < 0)) {
    const rejected = [...drawn.keys()].filter((i) => drawn[i] < 0);
    for (const i of rejected) drawn[i] = attempt();
  }
  return drawn;
}

async function checkReport(row) {
  const mechanism = await mechanismOf(row.mechanism);
  const rng = recorded(row);
  const isNumber = typeof row.value === "number";
  const index = isNumber ? row.value : indexOf(row.value);
  const payload = mechanism.instantaneous(mechanism.permanent(index, rng), rng);
  same(hex(payload), row.payload);
  same(rng.consumed, row.consumed);
  same(payload.length, mechanism.width);
}

function checkPick(row) {
  same(pick(row.members, row.weights, BigInt(row.coin)), row.member);
}

function checkCoin(row) {
  same(roundCoin(unhex(row.secret), row.digest), row.coin);
}

function checkPicks(row) {
  const coin = choiceCoin(unhex(row.secret), row.round, row.slot);
  same(coin, row.coin);
  same(pick(row.weights.length, row.weights, coin), row.member);
}

function checkShare(row) {
  const share = { low: BigInt(row.low), high: BigInt(row.high) };
  same(asksCoin(share, BigInt(row.coin)), row.asked);
}

function checkEnrolled(row) {
  const deviceBytes = enrolledBytes(row.token, row.digest);
  same(hex(deviceBytes), row.secret);
  same(roundCoin(deviceBytes, row.digest), row.coin);
}

function checkEnvelope({ hex: expected, ...row }) {
  same(hex(writeEnvelope(envelopeOf(row))), expected);
}

function checkUnwritable(row) {
  return refuses(() => writeEnvelope(envelopeOf(row)), ParameterError);
}

function envelopeOf({ digest: task, id, payload, subject, ...row }) {
  const bytes = { digest: unhex(task), id: unhex(id), payload: unhex(payload) };
  return { ...row, ...bytes, subject: subject && unhex(subject) };
}

async function checkMessage(row) {
  const notice = await noticeOf(JSON.stringify(row.task));
  const round = row.round ? await readAs(readRound, row.round) : notice.opening;
  const deviceBytes = unhex(row.secret);
  const rng = recorded(row);
  same(asksCoin(round, roundCoin(deviceBytes, notice.digest)), true);
  const questions = questionsFor(notice, checkRound(notice, round), deviceBytes);
  const index = notice.domain.index(valueOf(row));
  same(hex(writeMessage({ notice, round, questions, index }, rng)), row.message);
  same(rng.consumed, row.consumed);
}

async function checkScript(row, { openLedger, ledgerName }) {
  let time = 0;
  const clock = () => time;
  const windows = row.windows.map((window) => ({ ...window, epsilon: Number(window.epsilon) }));
  let ledger = openLedger(ledgerName, { cap: Number(row.cap), windows, clock });
  for (const event of row.events) {
    if (event.event === "answer") {
      time = event.time;
      same(await isAccepted(ledger, event), event.accepted);
    } else if (event.event === "opt-out") await ledger.optOut(event.task ?? "");
    else if (event.event === "restart") ledger = openLedger(ledgerName, { clock });
    else throw new Error("an unknown event");
  }
  same((await ledger.spent()).spent, Number(row.spent));
}

async function isAccepted(ledger, { task, epsilon, round, lasting }) {
  const spend = { task, name: task, epsilon, round, longitudinal: lasting };
  const make = () => Uint8Array.of(1);
  try {
    await ledger.update((file) => answerOnce(file, spend, ledger.clock(), make));
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
  const responses = {};
  const memory = { secret: unhex(row.secret), responses: (slot) => (responses[slot] ??= []) };
  const makePayload = permanentPayload(notice, memory);
  let file = openLedgerFile(undefined, { cap: 20 });
  for (const answer of row.answers) {
    const round = answer.round
      ? checkRound(notice, readRound(parse(JSON.stringify(answer.round))))
      : notice.opening;
    const questions = questionsFor(notice, round, unhex(row.coin));
    const index = notice.domain.index(answer.value);
    const rng = recorded(answer);
    const make = () => writeMessage({ notice, round, questions, index, makePayload }, rng);
    const spend = { task, name, epsilon, round: round.number, longitudinal: true };
    same(hex(answerOnce(file, spend, 0, make)), answer.message);
    same(rng.consumed, answer.consumed);
    const charged = file.charges.map((charge) => charge.epsilon);
    same(charged, [row.task.epsilon]);
    file = JSON.parse(JSON.stringify(file));
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
  const domain = await readAs(readDomain, row.domain);
  const value = { inf: Infinity, "-inf": -Infinity, nan: NaN }[row.value] ?? Number(row.value);
  if (row.refused) await refuses(() => domain.index(value), DomainError);
  else same(domain.index(value), row.index);
}

async function checkHeld(row) {
  const domain = await readAs(readDomain, row.domain);
  if (row.refused) return refuses(() => domain.index(valueOf(row)), DomainError);
  const index = domain.index(valueOf(row));
  if (row.domain.kind === "sets") same(index, row.index);
  else same(BigInt(index), indexOf(row.index));
}

async function checkEncoding(row) {
  const domain = await readAs(readDomain, row.domain);
  const encoding = await readAs(readEncoding, row.encoding);
  const rng = recorded(row);
  same(BigInt(encoding.encode(domain.index(valueOf(row)), rng)), indexOf(row.index));
  same(rng.consumed, row.consumed);
  same(BigInt(encoding.outputs(domain)), indexOf(row.outputs));
  same(encoding.kind, row.encoding.kind);
}

async function checkMisfit(row) {
  const domain = await readAs(readDomain, row.domain);
  const encoding = await readAs(readEncoding, row.encoding);
  await refuses(() => encoding.outputs(domain), ParameterError);
}

async function checkMalformed(row) {
  const readers = { domain: readDomain, encoding: readEncoding, family: readFamily };
  const read = () => readAs(readers[row.family], row.document);
  await (row.accepted ? read() : refuses(read, CodecError, ParameterError));
}

async function checkQuestion(row) {
  if (!row.accepted) return refuses(() => roundFor(row.question), ParameterError);
  const { mechanism, encoding, epsilon } = (await roundFor(row.question)).ask;
  sameRatio(encoding?.worstRatio?.(mechanism) ?? mechanism.worstRatio, row.ratio);
  same(epsilon, row.question.epsilon);
}

function pickMember({ members, weights }, row) {
  const member = pick(members.length, weights, BigInt(row.coin));
  same(member, row.member);
  return members.at(member);
}

async function checkFamily(row) {
  const { ask } = await roundFor(row.ask);
  const { mechanism, encoding, epsilon } = pickMember(ask, row);
  const { mechanism: expected, encoding: { item }, epsilon: price } = row.question;
  same([mechanism.kind, mechanism.epsilon, epsilon], [expected.kind, ask.epsilon, price]);
  same([[item], [item + 1], []].map((items) => encoding.encode(items)), [1, 0, 0]);
}

/** A member is known by its mechanism, and by its cells of records with one attribute above 0. */
async function checkMember(row) {
  const { ask } = await roundFor(row.ask);
  const { ask: expected } = await roundFor(row.question);
  const member = pickMember(ask, row);
  const settings = ({ mechanism: { kind, size, worstRatio, width }, epsilon }) =>
    [kind, size, worstRatio, width, epsilon];
  same(settings(member), settings(expected));
  const { sizes } = row.ask.members;
  const domain = { attributes: sizes.map((size) => ({ size })) };
  same(member.encoding.outputs(domain), expected.encoding.outputs(domain));
  same(cellsOf(member.encoding, sizes), cellsOf(expected.encoding, sizes));
}

function cellsOf(encoding, sizes) {
  const record = (column, value) => sizes.map((_, i) => (i === column ? value : 0));
  const powers = (size) => Array.from({ length: Math.ceil(Math.log2(size)) }, (_, i) => 2 ** i);
  return sizes.flatMap((size, column) =>
    [0, ...powers(size)].map((value) => encoding.encode(record(column, value))),
  );
}

async function checkTables(row) {
  const domain = await readAs(readDomain, row.domain);
  for (const [value, index] of row.held) same(domain.index(value), index);
  for (const value of row.refused) await refuses(() => domain.index(value), DomainError);
}

async function checkCells({ domain: content, person, trips, rows }) {
  const domain = await readAs(readDomain, content);
  for (const row of rows) {
    const encoding = await readAs(readEncoding, row.encoding);
    const rng = recorded(row);
    const index = domain.index({ people: person, trips: trips.slice(0, row.held) });
    same(encoding.encode(index, rng), row.index);
    same([rng.consumed, encoding.outputs(domain)], [row.consumed, row.cells]);
  }
}

async function checkMisfits({ domain, encoding, changes }) {
  (await readAs(readEncoding, encoding)).outputs(await readAs(readDomain, domain));
  for (const change of changes) await checkMisfit({ domain, encoding: { ...encoding, ...change } });
}

async function checkChanges({ family, document, accepted, refused }) {
  const changed = (change) => ({ ...document, ...change });
  for (const good of [document, ...accepted.map(changed)])
    await checkMalformed({ family, document: good, accepted: true });
  const required = Object.keys(document).filter((name) => family !== "domain" || name !== "public");
  const entries = Object.entries(document);
  const without = (name) => Object.fromEntries(entries.filter(([key]) => key !== name));
  for (const bad of [...required.map(without), ...refused.map(changed)])
    await checkMalformed({ family, document: bad, accepted: false });
}

/** A member is known by its mechanism, and by its cells of some records under the same words. */
async function checkLayers({ family: content, length, members }) {
  const family = await readAs(readFamily, content);
  same([family.length, members.length], [length, length]);
  const { table, columns, sizes, most, mechanisms } = content;
  const blank = { kind: "cell", weighted: false, rounded: [], mirrored: [], aligned: false };
  const attributes = sizes.map((size) => ({ size }));
  const domain = { tables: [0, 1].map(() => ({ most, attributes })) };
  const settings = ({ kind, size, groups, epsilon, worstRatio }) =>
    [kind, size, groups, epsilon, worstRatio];
  for (const [i, own, mechanism] of members) {
    const member = family.at(i);
    same(settings(member.mechanism), settings(await mechanismOf(mechanisms[mechanism])));
    const expected = await readAs(readEncoding, { ...blank, table, columns, sizes, most, ...own });
    same(member.encoding.outputs(domain), expected.outputs(domain));
    for (let turn = 0; turn < 8; turn++)
      same(drawnCell(member.encoding, content, turn), drawnCell(expected, content, turn));
  }
}

/** The cell of a record near one end of its columns or the other, and how many bytes it took. */
function drawnCell(encoding, { sizes, most }, turn) {
  const recording = Uint8Array.from({ length: 64 }, (_, i) => (i * 89 + turn * 47) & 255);
  const rng = new RecordedRng(recording);
  const fromTop = (column) => (turn >> (column % 3)) & 1;
  const record = sizes.map((size, i) => (fromTop(i) ? size - 1 - (turn % size) : turn % size));
  const list = turn % 2 ? [record] : [];
  const table = most ? list : record;
  return [encoding.encode({ tables: [table, table] }, rng), rng.consumed];
}

async function checkAnswers({ task, digest: expected, answers }) {
  const text = JSON.stringify(task);
  same([(await noticeOf(text)).digest, digest(parse(text))], [expected, expected]);
  for (const answer of answers) await checkMessage({ task, ...answer });
}

async function checkUndeclared(row) {
  const client = await Client.open(JSON.stringify(row.task), new MemoryLedger());
  await refuses(() => client.answer(row.value), MismatchError);
  same((await client.ledger.spent()).spent, 0);
}

async function checkLongitudinal(row) {
  const client = await Client.open(JSON.stringify(row.task), new MemoryLedger());
  if (row.accepted) return client.answer(row.value);
  await refuses(() => client.answer(row.value), ParameterError);
  same((await client.ledger.spent()).spent, 0);
}

function checkStream(row) {
  const [atOnce, inParts] = [keyed(row), keyed(row)];
  same(hex(atOnce.bytes(96)), row.bytes);
  same(hex(inParts.bytes(5)) + hex(inParts.bytes(91)), row.bytes);
}

async function checkShortSecret(row) {
  await refuses(() => keyed(row), SottovoceError);
}

async function checkResponse(row) {
  const mechanism = await mechanismOf(row.mechanism);
  const respond = () => mechanism.permanent(row.value, keyed(row));
  same(hex(respond()), row.permanent);
  same(hex(respond()), row.permanent); // the same secret gives the same response
  const rng = recorded(row);
  same(hex(mechanism.instantaneous(respond(), rng)), row.payload);
  same(rng.consumed, row.consumed);
}
