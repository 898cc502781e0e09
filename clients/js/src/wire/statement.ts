// The statement of a task: what it asks, costs and promises, as facts and in plain words.
//
// The sentences are those of Python and of the dashboard.  The text begins with what is sent in
// clear and what answering costs.  Words that the collector chose are quoted one by one, and
// quotation marks within them become apostrophes, so that they cannot pass for ours.  The name of
// the task and its description come last.

import type { DeviceFacts, WindowFacts } from "../client/spending.js";
import { shortest } from "../maths/exact.js";
import type { Bundle } from "../tasks/bundle.js";
import type { Choice } from "../tasks/choice.js";
import type { Collection } from "../tasks/collection.js";
import type { Family } from "../tasks/families/base.js";
import type { Notice } from "../tasks/notice.js";
import type { Ask } from "../tasks/question.js";
import type { Round } from "../tasks/round.js";
import type { Whole } from "./fields.js";
import { TEXTS } from "./statement_texts.js";

/** The settings of a domain that its phrase mentions; decimals are text. */
export type ValueFacts = { readonly kind: string } & Readonly<
  Record<string, Whole | string | readonly string[]>
>;

interface TableFacts {
  readonly name: string;
  /** How many records count; 0 for exactly one. */
  readonly most: number;
  readonly rows: number;
  readonly coin: boolean;
}

interface ShuffleFacts {
  readonly hops: readonly string[];
  readonly users: number;
  readonly fakes: number;
  readonly central: number;
  readonly againstUsers: number;
  readonly delta: number;
}

export interface Facts {
  readonly task: string;
  readonly description: string;
  readonly values: ValueFacts;
  readonly mechanisms: readonly string[];
  readonly encodings: readonly string[];
  readonly coin: boolean;
  readonly reports: number;
  readonly tables: readonly TableFacts[];
  readonly public: readonly string[];
  readonly epsilon: number;
  readonly odds: number;
  readonly longitudinal?: { distinct: number; response: number; once: number } | undefined;
  readonly shuffle?: ShuffleFacts | undefined;
  readonly collector?: Collection | undefined;
  readonly device: DeviceFacts;
}

export function statement(notice: Notice, { ask }: Round, device: DeviceFacts): Facts {
  const { name, description, domain, distinct, collection } = notice;
  const questions = ask.representatives;
  const encodings = questions.flatMap(({ encoding }) => encoding?.kind ?? []);
  return {
    task: name,
    description,
    values: domain.facts,
    mechanisms: sortedSet(questions.map(({ mechanism }) => mechanism.kind)),
    encodings: sortedSet(encodings),
    coin: ask.hasCoin,
    reports: ask.slots,
    tables: tableFacts(notice, ask),
    public: domain.publicNames ?? [],
    epsilon: +notice.epsilon,
    odds: Math.exp(+notice.epsilon),
    longitudinal: distinct
      ? { distinct, response: +ask.epsilon, once: ask.epsilonOnce }
      : undefined,
    shuffle: shuffleFacts(notice),
    collector: collection,
    device,
  };
}

/** Who shuffles, and the two promises; none is larger than what holds anyway. */
function shuffleFacts({ shuffle, epsilon }: Notice): ShuffleFacts | undefined {
  if (!shuffle) return undefined;
  return {
    hops: shuffle.hops.map(({ url }) => url.split("/")[2]!),
    users: shuffle.users,
    fakes: shuffle.fakes,
    central: Math.min(+shuffle.central, +epsilon),
    againstUsers: Math.min(+shuffle.againstUsers, +epsilon),
    delta: +shuffle.delta,
  };
}

function sortedSet(kinds: readonly string[]): string[] {
  return [...new Set(kinds)].sort();
}

function tableFacts({ domain: { tables = [] } }: Notice, ask: Ask): TableFacts[] {
  const slots = (ask as Bundle).parts ?? [ask];
  const families = slots.map((slot) => (slot as Choice).members as Family | undefined);
  return tables.map(({ name, most }, index) => {
    const own = families.filter((family) => family?.table === index);
    const coin = own.some((family) => family!.length > 1);
    return { name, most, rows: most ? own.length : 1, coin };
  });
}

/** Returns the facts in plain words. */
export function explain(facts: Facts): string {
  const aboutAnswer = facts.collector?.sandbox
    ? [sentence("rehearsal"), ...deviceSentences(facts.device), askedSentence(facts)]
    : [
        clearSentence(facts),
        ...costSentences(facts),
        ...shuffleSentences(facts),
        askedSentence(facts),
        ...usedSentences(facts),
        randomisedSentence(facts.mechanisms),
      ];
  return [...aboutAnswer, ...promiseSentences(facts), describedSentence(facts)].join(" ");
}

function clearSentence({ public: columns }: Facts): string {
  return columns.length
    ? sentence("clear", { columns: quotedList(columns) })
    : sentence("nothing_clear");
}

function costSentences(facts: Facts): string[] {
  const { epsilon, odds, reports, longitudinal, shuffle, device } = facts;
  const sentences = [sentence("cost", { epsilon: numberText(epsilon) })];
  if (reports > 1) sentences.push(sentence("reports", { reports: countText(reports) }));
  const seen = shuffle ? "odds_named" : "odds";
  sentences.push(sentence(longitudinal ? "odds_all" : seen, { odds: oddsText(odds) }));
  return [...sentences, ...longitudinalSentences(facts), ...deviceSentences(device)];
}

function longitudinalSentences({ longitudinal }: Facts): string[] {
  if (!longitudinal) return [];
  const { distinct, response, once } = longitudinal;
  const price = { distinct: countText(distinct), epsilon: numberText(response) };
  const paid = distinct === 1 ? sentence("paid_once_for_one") : sentence("paid_once", price);
  return [paid, sentence("single_message", { epsilon: numberText(once) }), sentence("changes")];
}

function deviceSentences({ spent, cap, windows, collectors }: DeviceFacts): string[] {
  const sentences = [sentence("spent", { spent: numberText(spent), cap: numberText(cap) })];
  if (collectors) {
    const { epsilon, delta } = collectors;
    const learned = { epsilon: numberText(epsilon), cases: casesText(delta) };
    sentences.push(sentence("collectors", learned));
  }
  return [...sentences, ...windows.map(windowSentence)];
}

/** Returns what happens to the message on its way, and what that promises against whom. */
function shuffleSentences({ shuffle, epsilon, collector }: Facts): string[] {
  if (!shuffle) return [];
  const { hops, users, fakes, central, againstUsers, delta } = shuffle;
  const hasOneHop = hops.length === 1;
  const passed = { hops: joined(hops), users: countText(users) };
  const mixed = sentence(hasOneHop ? "mixed_one" : "mixed", passed);
  if (central >= epsilon) return [mixed, sentence("mixing_promises_nothing")];
  const promise = {
    odds: oddsText(Math.exp(central)),
    epsilon: numberText(central),
    cases: casesText(delta),
  };
  const alone = {
    fakes: countText(fakes),
    odds: oddsText(Math.exp(againstUsers)),
    epsilon: numberText(againstUsers),
  };
  return [
    mixed,
    sentence(hasOneHop ? "same_keys_one" : "same_keys"),
    sentence(hasOneHop ? "central_one" : "central", promise),
    sentence(collector?.issuer === undefined ? "people_unchecked" : "people_checked"),
    againstUsers >= epsilon ? sentence("no_fakes") : sentence("fakes", alone),
  ];
}

function windowSentence({ seconds, epsilon, reports, spent, used }: WindowFacts): string {
  return sentence("window", {
    duration: durationText(seconds),
    epsilon: numberText(epsilon),
    answers: counted(TEXTS.counts.answers, reports),
    spent: numberText(spent),
    used: countText(used),
  });
}

function askedSentence({ values: { kind, ...settings }, longitudinal }: Facts): string {
  const phrase = entryOf<string>(TEXTS.values, kind) ?? TEXTS.sentences.other_values;
  const texts = Object.entries(settings).map(([name, value]) => [name, settingText(value)]);
  const often = longitudinal ? "asked_often" : "asked_once";
  return sentence(often, { values: fill(phrase, Object.fromEntries(texts)) });
}

function settingText(setting: Whole | string | readonly string[]): string {
  if (typeof setting === "object") return quotedList(setting);
  return typeof setting === "string" ? numberText(+setting) : countText(setting);
}

/** Returns which part of an answer is used: by encoding, or table by table. */
function usedSentences({ encodings, coin, tables }: Facts): string[] {
  const byEncoding = encodings.map((kind) => encodingSentence(kind, coin));
  const byTable = tables.flatMap((table) => {
    const where = tables.length > 1 ? sentence("where", { table: quoted(table.name) }) : "";
    return tableSentences(table, where);
  });
  return [...byEncoding, ...byTable].filter(Boolean);
}

function encodingSentence(kind: string, picked: boolean): string {
  const texts = entryOf<{ always: string; picked: string }>(TEXTS.encodings, kind);
  if (!texts) return sentence("other_encoding", { kind });
  return picked ? texts.picked : texts.always;
}

function tableSentences({ most, rows, coin }: TableFacts, where: string): string[] {
  if (!most) return [sentence(coin ? "used_columns" : "used_record", { where })];
  const used =
    rows === 1
      ? sentence("used_one_row", { where })
      : sentence("used_rows", { rows: countText(rows), where });
  return [used, sentence(coin ? "row_columns" : "row_record")];
}

/** Returns what the mechanisms send; those that send the same are named together. */
function randomisedSentence(kinds: readonly string[]): string {
  const names = new Map<string, Set<string>>();
  for (const kind of kinds) {
    const other = { does: TEXTS.sentences.other_way, name: kind };
    const { does, name } = entryOf<typeof other>(TEXTS.mechanisms, kind) ?? other;
    if (!names.has(does)) names.set(does, new Set());
    names.get(does)!.add(name);
  }
  const ways = [...names].map(([does, known]) =>
    sentence("way", { does, names: [...known].join(", ") }),
  );
  return sentence("randomised", { ways: ways.join(", or ") });
}

function promiseSentences({ collector }: Facts): string[] {
  if (!collector) return [sentence("no_promises")];
  const { minimum, retention, crowd, enrolment, issuer, defence } = collector;
  const retained = durationText(86_400 * retention);
  const sentences = [sentence("promises", { minimum: countText(minimum), retention: retained })];
  if (crowd) sentences.push(sentence("crowd", { crowd: countText(crowd) }));
  const others = issuer === undefined ? "open" : "blind_tokens";
  sentences.push(sentence(enrolment ? "enrolment" : others));
  if (defence) sentences.push(sentence("fixed_seeds"));
  return sentences;
}

function describedSentence({ task, description }: Facts): string {
  const words = { task: harmless(task), description: harmless(description) };
  return sentence(description ? "described" : "named", words); // they have marks of their own
}

function quotedList(words: readonly string[]): string {
  return words.map(quoted).join(", ");
}

/** Returns quoted words as people list them: a, b and c. */
function joined(words: readonly string[]): string {
  if (words.length === 1) return quoted(words[0]!);
  const last = quoted(words.at(-1)!);
  return sentence("and", { first: quotedList(words.slice(0, -1)), last });
}

/** Returns words that the collector chose, so that a reader sees where they begin and end. */
function quoted(words: string): string {
  return `“${harmless(words)}”`;
}

function harmless(words: string): string {
  return words.replace(/["“”„‟«»]/g, "'");
}

type SentenceName = keyof typeof TEXTS.sentences;

function sentence(name: SentenceName, entries: Record<string, string> = {}): string {
  return fill(TEXTS.sentences[name], entries);
}

function fill(text: string, entries: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => entries[name]!);
}

/** Returns an entry of a table, or nothing for a kind that it does not know. */
function entryOf<T>(table: object, kind: string): T | undefined {
  return Object.hasOwn(table, kind) ? (table as Record<string, T>)[kind] : undefined;
}

function countText(count: Whole): string {
  return grouped(String(count));
}

/** Returns a number with at most six digits. */
function numberText(number: number): string {
  return grouped(shortest(+number.toPrecision(6)).replace(/\.0$/, ""));
}

/** Returns the text with commas between thousands. */
function grouped(text: string): string {
  if (text.includes("e")) return text;
  return text.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}

/** Returns a factor, rounded up, so that "at most" is true. */
function oddsText(odds: number): string {
  return grouped((Math.ceil(100 * odds) / 100).toFixed(2));
}

/** Returns among how many cases one has the probability `delta`, rounded down. */
function casesText(delta: number): string {
  const cases = Math.floor((1 + 1e-12) / delta); // 1 / 1e-9 is a little below 10^9
  return cases < 1e15 ? countText(cases) : numberText(cases);
}

/** Returns a time in the largest unit that divides it. */
function durationText(seconds: number): string {
  const units = TEXTS.durations;
  const unit = units.find((candidate) => seconds % candidate.seconds === 0) ?? units.at(-1)!;
  return counted(unit, seconds / unit.seconds);
}

function counted(texts: { one: string; many: string }, count: number): string {
  if (count === 1) return texts.one;
  const text = Number.isInteger(count) ? countText(count) : numberText(count);
  return fill(texts.many, { count: text });
}
