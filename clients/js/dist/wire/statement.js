import { shortest } from "../maths/exact.js";
import { TEXTS } from "./statement_texts.js";
export function statement(notice, { ask }, device) {
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
function shuffleFacts({ shuffle, epsilon }) {
    if (!shuffle)
        return undefined;
    return {
        hops: shuffle.hops.map(({ url }) => url.split("/")[2]),
        users: shuffle.users,
        fakes: shuffle.fakes,
        central: Math.min(+shuffle.central, +epsilon),
        againstUsers: Math.min(+shuffle.againstUsers, +epsilon),
        delta: +shuffle.delta,
    };
}
function sortedSet(kinds) {
    return [...new Set(kinds)].sort();
}
function tableFacts({ domain: { tables = [] } }, ask) {
    const slots = ask.parts ?? [ask];
    const families = slots.map((slot) => slot.members);
    return tables.map(({ name, most }, index) => {
        const own = families.filter((family) => family?.table === index);
        const coin = own.some((family) => family.length > 1);
        return { name, most, rows: most ? own.length : 1, coin };
    });
}
export function explain(facts) {
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
function clearSentence({ public: columns }) {
    return columns.length
        ? sentence("clear", { columns: quotedList(columns) })
        : sentence("nothing_clear");
}
function costSentences(facts) {
    const { epsilon, odds, reports, longitudinal, shuffle, device } = facts;
    const sentences = [sentence("cost", { epsilon: numberText(epsilon) })];
    if (reports > 1)
        sentences.push(sentence("reports", { reports: countText(reports) }));
    const seen = shuffle ? "odds_named" : "odds";
    sentences.push(sentence(longitudinal ? "odds_all" : seen, { odds: oddsText(odds) }));
    return [...sentences, ...longitudinalSentences(facts), ...deviceSentences(device)];
}
function longitudinalSentences({ longitudinal }) {
    if (!longitudinal)
        return [];
    const { distinct, response, once } = longitudinal;
    const price = { distinct: countText(distinct), epsilon: numberText(response) };
    const paid = distinct === 1 ? sentence("paid_once_for_one") : sentence("paid_once", price);
    return [paid, sentence("single_message", { epsilon: numberText(once) }), sentence("changes")];
}
function deviceSentences({ spent, cap, windows, collectors }) {
    const sentences = [sentence("spent", { spent: numberText(spent), cap: numberText(cap) })];
    if (collectors) {
        const { epsilon, delta } = collectors;
        const learned = { epsilon: numberText(epsilon), cases: casesText(delta) };
        sentences.push(sentence("collectors", learned));
    }
    return [...sentences, ...windows.map(windowSentence)];
}
function shuffleSentences({ shuffle, epsilon, collector }) {
    if (!shuffle)
        return [];
    const { hops, users, fakes, central, againstUsers, delta } = shuffle;
    const hasOneHop = hops.length === 1;
    const passed = { hops: joined(hops), users: countText(users) };
    const mixed = sentence(hasOneHop ? "mixed_one" : "mixed", passed);
    if (central >= epsilon)
        return [mixed, sentence("mixing_promises_nothing")];
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
        sentence(hasOneHop ? "central_one" : "central", promise),
        sentence(collector?.issuer === undefined ? "people_unchecked" : "people_checked"),
        againstUsers >= epsilon ? sentence("no_fakes") : sentence("fakes", alone),
    ];
}
function windowSentence({ seconds, epsilon, reports, spent, used }) {
    return sentence("window", {
        duration: durationText(seconds),
        epsilon: numberText(epsilon),
        answers: counted(TEXTS.counts.answers, reports),
        spent: numberText(spent),
        used: countText(used),
    });
}
function askedSentence({ values: { kind, ...settings }, longitudinal }) {
    const phrase = entryOf(TEXTS.values, kind) ?? TEXTS.sentences.other_values;
    const texts = Object.entries(settings).map(([name, value]) => [name, settingText(value)]);
    const often = longitudinal ? "asked_often" : "asked_once";
    return sentence(often, { values: fill(phrase, Object.fromEntries(texts)) });
}
function settingText(setting) {
    if (typeof setting === "object")
        return quotedList(setting);
    return typeof setting === "string" ? numberText(+setting) : countText(setting);
}
function usedSentences({ encodings, coin, tables }) {
    const byEncoding = encodings.map((kind) => encodingSentence(kind, coin));
    const byTable = tables.flatMap((table) => {
        const where = tables.length > 1 ? sentence("where", { table: quoted(table.name) }) : "";
        return tableSentences(table, where);
    });
    return [...byEncoding, ...byTable].filter(Boolean);
}
function encodingSentence(kind, picked) {
    const texts = entryOf(TEXTS.encodings, kind);
    if (!texts)
        return sentence("other_encoding", { kind });
    return picked ? texts.picked : texts.always;
}
function tableSentences({ most, rows, coin }, where) {
    if (!most)
        return [sentence(coin ? "used_columns" : "used_record", { where })];
    const used = rows === 1
        ? sentence("used_one_row", { where })
        : sentence("used_rows", { rows: countText(rows), where });
    return [used, sentence(coin ? "row_columns" : "row_record")];
}
function randomisedSentence(kinds) {
    const names = new Map();
    for (const kind of kinds) {
        const other = { does: TEXTS.sentences.other_way, name: kind };
        const { does, name } = entryOf(TEXTS.mechanisms, kind) ?? other;
        if (!names.has(does))
            names.set(does, new Set());
        names.get(does).add(name);
    }
    const ways = [...names].map(([does, known]) => sentence("way", { does, names: [...known].join(", ") }));
    return sentence("randomised", { ways: ways.join(", or ") });
}
function promiseSentences({ collector }) {
    if (!collector)
        return [sentence("no_promises")];
    const { minimum, retention, crowd, enrolment, issuer } = collector;
    const retained = durationText(86_400 * retention);
    const sentences = [sentence("promises", { minimum: countText(minimum), retention: retained })];
    if (crowd)
        sentences.push(sentence("crowd", { crowd: countText(crowd) }));
    const others = issuer === undefined ? "open" : "blind_tokens";
    return [...sentences, sentence(enrolment ? "enrolment" : others)];
}
function describedSentence({ task, description }) {
    const words = { task: harmless(task), description: harmless(description) };
    return sentence(description ? "described" : "named", words);
}
function quotedList(words) {
    return words.map(quoted).join(", ");
}
function joined(words) {
    if (words.length === 1)
        return quoted(words[0]);
    const last = quoted(words.at(-1));
    return sentence("and", { first: quotedList(words.slice(0, -1)), last });
}
function quoted(words) {
    return `“${harmless(words)}”`;
}
function harmless(words) {
    return words.replace(/["“”„‟«»]/g, "'");
}
function sentence(name, entries = {}) {
    return fill(TEXTS.sentences[name], entries);
}
function fill(text, entries) {
    return text.replace(/\{(\w+)\}/g, (_, name) => entries[name]);
}
function entryOf(table, kind) {
    return Object.hasOwn(table, kind) ? table[kind] : undefined;
}
function countText(count) {
    return grouped(String(count));
}
function numberText(number) {
    return grouped(shortest(+number.toPrecision(6)).replace(/\.0$/, ""));
}
function grouped(text) {
    if (text.includes("e"))
        return text;
    return text.replace(/^-?\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));
}
function oddsText(odds) {
    return grouped((Math.ceil(100 * odds) / 100).toFixed(2));
}
function casesText(delta) {
    const cases = Math.floor((1 + 1e-12) / delta);
    return cases < 1e15 ? countText(cases) : numberText(cases);
}
function durationText(seconds) {
    const units = TEXTS.durations;
    const unit = units.find((candidate) => seconds % candidate.seconds === 0) ?? units.at(-1);
    return counted(unit, seconds / unit.seconds);
}
function counted(texts, count) {
    if (count === 1)
        return texts.one;
    const text = Number.isInteger(count) ? countText(count) : numberText(count);
    return fill(texts.many, { count: text });
}
