// The statement of a task: what it asks, costs and promises, as facts and in plain words.
//
// The sentences are those of Python and of the dashboard, in the same order in all languages.  The
// text begins with what is sent in clear and what answering costs.  Words that the collector chose
// are quoted one by one, and quotation marks within them become apostrophes, so that they cannot
// pass for ours.  The name of the task and its description come last.

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
import type { Texts } from "./languages.js";

/** A setting: a whole number, a unit or a date, names of the collector, or a decimal as text. */
type Setting = Whole | string | readonly string[] | { readonly decimal: string };

/** The settings of a domain that its phrase mentions. */
export type ValueFacts = { readonly kind: string } & Readonly<Record<string, Setting>>;

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

/** Returns the facts in plain words, in the language of the table. */
export function explain(facts: Facts, texts: Texts): string {
  return new Writer(texts).explain(facts);
}

type SentenceName = keyof Texts["sentences"];

/** Turns facts into sentences of one language. */
class Writer {
  readonly #texts: Texts;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  explain(facts: Facts): string {
    const aboutAnswer = facts.collector?.sandbox
      ? [
          this.#sentence("rehearsal"),
          ...this.#deviceSentences(facts.device),
          this.#askedSentence(facts),
        ]
      : [
          this.#clearSentence(facts),
          ...this.#costSentences(facts),
          ...this.#shuffleSentences(facts),
          this.#askedSentence(facts),
          ...this.#usedSentences(facts),
          this.#randomisedSentence(facts.mechanisms),
        ];
    const promised = this.#promiseSentences(facts);
    return [...aboutAnswer, ...promised, this.#describedSentence(facts)].join(" ");
  }

  #clearSentence({ public: columns }: Facts): string {
    return columns.length
      ? this.#sentence("clear", { columns: this.#quotedList(columns) })
      : this.#sentence("nothing_clear");
  }

  #costSentences(facts: Facts): string[] {
    const { epsilon, odds, reports, longitudinal, shuffle, device } = facts;
    const sentences = [this.#sentence("cost", { epsilon: this.#numberText(epsilon) })];
    if (reports > 1)
      sentences.push(this.#sentence("reports", { reports: this.#countText(reports) }));
    const seen = shuffle ? "odds_named" : "odds";
    const factor = { odds: this.#oddsText(odds) };
    sentences.push(this.#sentence(longitudinal ? "odds_all" : seen, factor));
    return [...sentences, ...this.#longitudinalSentences(facts), ...this.#deviceSentences(device)];
  }

  #longitudinalSentences({ longitudinal }: Facts): string[] {
    if (!longitudinal) return [];
    const { distinct, response, once } = longitudinal;
    const price = { distinct: this.#countText(distinct), epsilon: this.#numberText(response) };
    return [
      distinct === 1 ? this.#sentence("paid_once_for_one") : this.#sentence("paid_once", price),
      this.#sentence("single_message", { epsilon: this.#numberText(once) }),
      this.#sentence("changes"),
    ];
  }

  #deviceSentences({ spent, cap, windows, collectors }: DeviceFacts): string[] {
    const paid = { spent: this.#numberText(spent), cap: this.#numberText(cap) };
    const sentences = [this.#sentence("spent", paid)];
    if (collectors) {
      const { epsilon, delta } = collectors;
      const learned = { epsilon: this.#numberText(epsilon), cases: this.#casesText(delta) };
      sentences.push(this.#sentence("collectors", learned));
    }
    return [...sentences, ...windows.map((window) => this.#windowSentence(window))];
  }

  /** Returns what happens to the message on its way, and what that promises against whom. */
  #shuffleSentences({ shuffle, epsilon, collector }: Facts): string[] {
    if (!shuffle) return [];
    const { hops, users, fakes, central, againstUsers, delta } = shuffle;
    const hasOneHop = hops.length === 1;
    const passed = { hops: this.#joined(hops), users: this.#countText(users) };
    const mixed = this.#sentence(hasOneHop ? "mixed_one" : "mixed", passed);
    if (central >= epsilon) return [mixed, this.#sentence("mixing_promises_nothing")];
    const promise = {
      odds: this.#oddsText(Math.exp(central)),
      epsilon: this.#numberText(central),
      cases: this.#casesText(delta),
    };
    const alone = {
      fakes: this.#countText(fakes),
      odds: this.#oddsText(Math.exp(againstUsers)),
      epsilon: this.#numberText(againstUsers),
    };
    return [
      mixed,
      this.#sentence(hasOneHop ? "same_keys_one" : "same_keys"),
      this.#sentence(hasOneHop ? "central_one" : "central", promise),
      this.#sentence(collector?.issuer === undefined ? "people_unchecked" : "people_checked"),
      againstUsers >= epsilon ? this.#sentence("no_fakes") : this.#sentence("fakes", alone),
    ];
  }

  #windowSentence({ seconds, epsilon, reports, spent, used }: WindowFacts): string {
    return this.#sentence("window", {
      duration: this.#durationText(seconds),
      epsilon: this.#numberText(epsilon),
      answers: this.#counted(this.#texts.counts.answers, reports),
      spent: this.#numberText(spent),
      used: this.#countText(used),
    });
  }

  #askedSentence({ values: { kind, ...settings }, longitudinal }: Facts): string {
    const phrase = entryOf<string>(this.#texts.values, kind) ?? this.#texts.sentences.other_values;
    const texts = Object.entries(settings).map(([name, value]) => [name, this.#settingText(value)]);
    const often = longitudinal ? "asked_often" : "asked_once";
    return this.#sentence(often, { values: fill(phrase, Object.fromEntries(texts)) });
  }

  #settingText(setting: Setting): string {
    if (typeof setting === "string") return entryOf<string>(this.#texts.units, setting) ?? setting;
    if (typeof setting !== "object") return this.#countText(setting);
    return "decimal" in setting ? this.#numberText(+setting.decimal) : this.#quotedList(setting);
  }

  /** Returns which part of an answer is used: by encoding, or table by table. */
  #usedSentences({ encodings, coin, tables }: Facts): string[] {
    const byEncoding = encodings.map((kind) => this.#encodingSentence(kind, coin));
    const byTable = tables.flatMap((table) => {
      const named = { table: this.#quoted(table.name) };
      return this.#tableSentences(table, tables.length > 1 ? this.#sentence("where", named) : "");
    });
    return [...byEncoding, ...byTable].filter(Boolean);
  }

  #encodingSentence(kind: string, picked: boolean): string {
    const texts = entryOf<{ always: string; picked: string }>(this.#texts.encodings, kind);
    if (!texts) return this.#sentence("other_encoding", { kind });
    return picked ? texts.picked : texts.always;
  }

  #tableSentences({ most, rows, coin }: TableFacts, where: string): string[] {
    if (!most) return [this.#sentence(coin ? "used_columns" : "used_record", { where })];
    const used =
      rows === 1
        ? this.#sentence("used_one_row", { where })
        : this.#sentence("used_rows", { rows: this.#countText(rows), where });
    return [used, this.#sentence(coin ? "row_columns" : "row_record")];
  }

  /** Returns what the mechanisms send; those that send the same are named together. */
  #randomisedSentence(kinds: readonly string[]): string {
    const names = new Map<string, Set<string>>();
    for (const kind of kinds) {
      const other = { does: this.#texts.sentences.other_way, name: kind };
      const { does, name } = entryOf<typeof other>(this.#texts.mechanisms, kind) ?? other;
      if (!names.has(does)) names.set(does, new Set());
      names.get(does)!.add(name);
    }
    const ways = [...names].map(([does, known]) =>
      this.#sentence("way", { does, names: [...known].join(", ") }),
    );
    return this.#sentence("randomised", { ways: ways.join(this.#texts.writing.or) });
  }

  #promiseSentences({ collector }: Facts): string[] {
    if (!collector) return [this.#sentence("no_promises")];
    const { minimum, retention, crowd, enrolment, issuer, defence } = collector;
    const promised = {
      minimum: this.#countText(minimum),
      retention: this.#durationText(86_400 * retention),
    };
    const sentences = [this.#sentence("promises", promised)];
    if (crowd) sentences.push(this.#sentence("crowd", { crowd: this.#countText(crowd) }));
    const others = issuer === undefined ? "open" : "blind_tokens";
    sentences.push(this.#sentence(enrolment ? "enrolment" : others));
    if (defence) sentences.push(this.#sentence("fixed_seeds"));
    return sentences;
  }

  #describedSentence({ task, description }: Facts): string {
    // The sentences have quotation marks of their own.
    const words = { task: harmless(task), description: harmless(description) };
    return this.#sentence(description ? "described" : "named", words);
  }

  #quotedList(words: readonly string[]): string {
    return words.map((word) => this.#quoted(word)).join(", ");
  }

  /** Returns quoted words as people list them: a, b and c. */
  #joined(words: readonly string[]): string {
    if (words.length === 1) return this.#quoted(words[0]!);
    const last = this.#quoted(words.at(-1)!);
    return this.#sentence("and", { first: this.#quotedList(words.slice(0, -1)), last });
  }

  /** Returns words that the collector chose, so that a reader sees where they begin and end. */
  #quoted(words: string): string {
    const { open, close } = this.#texts.writing;
    return open + harmless(words) + close;
  }

  #sentence(name: SentenceName, entries: Record<string, string> = {}): string {
    return fill(this.#texts.sentences[name], entries);
  }

  #countText(count: Whole): string {
    return this.#written(grouped(String(count)));
  }

  /** Returns a number with at most six digits. */
  #numberText(number: number): string {
    return this.#written(grouped(shortest(+number.toPrecision(6)).replace(/\.0$/, "")));
  }

  /** Returns a number with the marks of the language in place of the English ones. */
  #written(number: string): string {
    const { thousands, decimal } = this.#texts.writing;
    return number.replace(/[,.]/g, (mark) => (mark === "," ? thousands : decimal));
  }

  /** Returns a factor, rounded up, so that "at most" is true. */
  #oddsText(odds: number): string {
    return this.#written(grouped((Math.ceil(100 * odds) / 100).toFixed(2)));
  }

  /** Returns among how many cases one has the probability `delta`, rounded down. */
  #casesText(delta: number): string {
    const cases = Math.floor((1 + 1e-12) / delta); // 1 / 1e-9 is a little below 10^9
    return cases < 1e15 ? this.#countText(cases) : this.#numberText(cases);
  }

  /** Returns a time in the largest unit that divides it. */
  #durationText(seconds: number): string {
    const units = this.#texts.durations;
    const unit = units.find((candidate) => seconds % candidate.seconds === 0) ?? units.at(-1)!;
    return this.#counted(unit, seconds / unit.seconds);
  }

  #counted(texts: { one: string; many: string }, count: number): string {
    if (count === 1) return texts.one;
    const text = Number.isInteger(count) ? this.#countText(count) : this.#numberText(count);
    return fill(texts.many, { count: text });
  }
}

function harmless(words: string): string {
  return words.replace(/["“”„‟«»]/g, "'");
}

function fill(text: string, entries: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => entries[name]!);
}

/** Returns an entry of a table, or nothing for a kind that it does not know. */
function entryOf<T>(table: object, kind: string): T | undefined {
  return Object.hasOwn(table, kind) ? (table as Record<string, T>)[kind] : undefined;
}

/** Returns the text with commas between thousands. */
function grouped(text: string): string {
  if (text.includes("e")) return text;
  return text.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}
