import { MAX_DOCUMENT_MEMBERS } from "../../core/bounds.js";
import { readMechanism } from "../../core/registry.js";
import { narrow } from "../../domains/base.js";
import { cell, CELLS_RULE, checkLayer, intervalCount } from "../../encodings/cell.js";
import { need } from "../../errors.js";
import { bitLength } from "../../maths/hashing.js";
import { grouped } from "../../wire/codec.js";
import { list, readFields, text, whole } from "../../wire/fields.js";
import { Question } from "../question.js";
const ALIGNED_ABOVE = 1 << 20;
const MAX_CELL_BITS = 62;
const SHAPE = {
    table: whole,
    columns: list(whole),
    sizes: list(whole),
    widths: list(list(whole)),
    most: whole,
    rounding: text,
    groups: list(whole),
    first: whole,
};
export function read(document, reading) {
    const settings = readSettings(document, reading);
    const { mechanisms, first, table } = settings;
    const ends = groupEnds(settings);
    const length = ends.at(-1) - first;
    need(length >= 1 && length <= MAX_DOCUMENT_MEMBERS, `a table has from 1 to ${grouped(MAX_DOCUMENT_MEMBERS)} layers: ` +
        "fewer columns, or a larger fan-out");
    reading.countMembers(length);
    checkSettings(settings);
    const byKey = new Map(mechanisms.map((mechanism) => [keyText(mechanism), mechanism]));
    const keys = layerKeys(settings, ends.length).slice(first);
    const mechanismOf = ({ size, groups }) => byKey.get(keyText({ size, groups: groups })) ?? byKey.get(keyText({ size }));
    const at = (index) => {
        const layer = () => aligned(layerOf(settings, ends, index + first), keys[index]);
        return new Question(mechanismOf(keys[index]), lazyCell(layer));
    };
    const firstMembers = new Map();
    keys.forEach((key, index) => {
        const mechanism = mechanismOf(key);
        if (!firstMembers.has(mechanism))
            firstMembers.set(mechanism, index);
    });
    need(firstMembers.size === mechanisms.length && !firstMembers.has(undefined), "`mechanisms` must have one entry for every number of cells");
    return { length, at, representatives: [...firstMembers.values()].map(at), table };
}
function readSettings(document, reading) {
    const mechanisms = list((content) => readMechanism(content, reading));
    const { first, ...settings } = readFields(document, "layers", { ...SHAPE, mechanisms });
    const { rounding, groups, widths, columns } = settings;
    need(/^(none|one|all|mirror)$/.test(rounding), "`rounding` must be one of none, one, all, mirror");
    need(!groups.length === (rounding === "none"), "`groups` must name columns if, and only if, there is a `rounding`");
    need(groups.length <= columns.length, "`groups` must have at most one entry per column");
    need(first === 0 || first === 1, "`first` must be 0 or 1");
    need(columns.length, "`columns` must not be empty");
    need(widths.length === columns.length, "`widths` must have one list per column");
    need(widths.every((choices) => choices.length), "`widths` must have at least one entry for every column");
    const known = new Set(columns);
    need(groups.every((column) => known.has(column)), "`groups` must be among `columns`");
    return { ...settings, first };
}
function checkSettings(settings) {
    const { table, columns, sizes, widths, most, rounding, groups } = settings;
    need(widths.every((choices) => choices.every((width) => width >= 1)), "`widths` must be at least 1");
    checkLayer({
        ...{ table, columns, sizes, most, weighted: false, mirrored: [], aligned: false },
        widths: widths.map((choices) => choices[0]),
        rounded: rounding === "all" ? groups : [],
    });
}
function groupEnds({ columns, widths, rounding, groups }) {
    const choices = widths.map((list) => list.length);
    const all = choices.reduce((result, count) => result * count, 1);
    if (rounding === "none")
        return [all];
    if (rounding === "all")
        return [all * 2 ** groups.length];
    const counts = new Map(columns.map((column, i) => [column, choices[i]]));
    let end = 0;
    return groups.map((own) => {
        const count = counts.get(own);
        end += rounding === "one" ? 2 * all : (all / count) * (count + 1);
        return end;
    });
}
function layerKeys(settings, groupCount) {
    const { columns, sizes, widths, rounding, groups } = settings;
    const plain = columns.map((_, i) => widths[i].map((width) => factorOf(intervalCount(sizes[i], width, false))));
    const isSingle = (factors) => factors.length === 1 && factors[0].count === 1;
    const relevant = [...plain.keys()].filter((i) => !isSingle(plain[i]));
    const places = new Map(columns.map((column, i) => [column, i]));
    const keys = [];
    for (let group = 0; group < groupCount; group++) {
        const own = rounding === "mirror" ? places.get(groups[group]) : -1;
        const isRelevant = own < 0 || relevant.includes(own);
        const factors = isRelevant ? relevant : [...relevant, own].sort(byNumber);
        const doubled = own < 0 ? [] : [NO_CHOICE, ...plain[own].map(twice)];
        const lists = factors.map((i) => (i === own ? doubled : plain[i]));
        for (const chosen of combinations(lists))
            for (const coins of coinCounts(settings))
                keys.push(keyOf(chosen, coins));
    }
    return keys;
}
const NO_CHOICE = { count: 1, bits: 0 };
function factorOf(count) {
    return { count: Number(count), bits: count > 1n ? bitLength(count - 1n) : 0 };
}
function twice({ count, bits }) {
    return { count: 2 * count, bits: bits + 1 };
}
function byNumber(left, right) {
    return left - right;
}
function* combinations(lists) {
    const digits = lists.map(() => 0);
    for (;;) {
        yield lists.map((list, i) => list[digits[i]]);
        let last = lists.length - 1;
        while (last >= 0 && digits[last] === lists[last].length - 1)
            digits[last--] = 0;
        if (last < 0)
            return;
        digits[last] += 1;
    }
}
function coinCounts({ most, rounding, groups }) {
    const choices = rounding === "all" ? groups.length : +(rounding === "one");
    return Array.from({ length: 2 ** choices }, (_, chosen) => {
        const rounded = bitCount(chosen);
        const isWeighted = Boolean(most) && (rounding === "none" || rounded > 0);
        return rounded + +isWeighted;
    });
}
function bitCount(number) {
    return number.toString(2).replaceAll("0", "").length;
}
function keyOf(factors, coins) {
    const cells = factors.reduce((product, { count }) => product * count, 2 ** coins);
    if (cells <= ALIGNED_ABOVE)
        return { size: Math.max(cells, 2), groups: [] };
    const bits = [...factors.map((factor) => factor.bits), ...Array(coins).fill(1)];
    const sum = bits.reduce((total, count) => total + count, 0);
    need(sum <= MAX_CELL_BITS, CELLS_RULE);
    const groups = bits.filter(Boolean).sort(byNumber).reverse();
    return { size: narrow(1n << BigInt(sum)), groups };
}
function layerOf(settings, ends, member) {
    const { table, columns, sizes, most, rounding, groups } = settings;
    const group = ends.findIndex((end) => member < end);
    const own = rounding === "all" ? groups : groups.slice(group, group + 1);
    const mirrored = rounding === "mirror" ? own : [];
    const choices = settings.widths.map((list, i) => mirrored.includes(columns[i]) ? [0, ...list] : list);
    const coins = rounding === "one" || rounding === "all" ? own.map(() => 2) : [];
    const radices = [...choices.map((list) => list.length), ...coins];
    const digits = digitsOf(member - (ends[group - 1] ?? 0), radices);
    const rounded = own.filter((_, i) => digits[columns.length + i]);
    const widths = choices.map((list, i) => list[digits[i]]);
    const weighted = Boolean(most) && (rounding === "none" || rounded.length > 0);
    return { table, columns, sizes, widths, most, weighted, rounded, mirrored, aligned: false };
}
function digitsOf(number, radices) {
    const digits = radices.map(() => 0);
    for (let i = radices.length - 1; i >= 0; i--) {
        digits[i] = number % radices[i];
        number = Math.floor(number / radices[i]);
    }
    return digits;
}
function aligned(layer, { groups }) {
    return { ...layer, aligned: groups.length > 0 };
}
function lazyCell(layer) {
    return {
        kind: "cell",
        outputs: (domain) => cell(layer()).outputs(domain),
        encode: (index, rng) => cell(layer()).encode(index, rng),
    };
}
function keyText({ size, groups = [] }) {
    return `${size}:${groups}`;
}
