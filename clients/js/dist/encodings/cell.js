import { narrow, randomBelow } from "../domains/base.js";
import { need } from "../errors.js";
import { bitLength } from "../maths/hashing.js";
import { flag, list, readFields, whole } from "../wire/fields.js";
export const CELLS_RULE = "a layer has at most 2^62 cells";
const MAX_CELLS = 1n << 62n;
const SHAPE = {
    table: whole,
    columns: list(whole),
    sizes: list(whole),
    widths: list(whole),
    most: whole,
    weighted: flag,
    rounded: list(whole),
    mirrored: list(whole),
    aligned: flag,
};
export function read(document) {
    return cell(readFields(document, "cell", SHAPE));
}
export function cell(layer) {
    const { table, columns, sizes, most, aligned } = layer;
    const { factors, order, cells } = extentOf(layer);
    const radices = factors.map((factor) => (aligned ? 1n << BigInt(bitsOf(factor)) : factor));
    return {
        kind: "cell",
        outputs(domain) {
            const asked = domain.tables?.[Number(table)];
            need(asked, "`table` must be a table of the task's domain");
            need(asked.most === most, "`most` must be that of the table in the task's domain");
            need(columns.every((column, i) => asked.attributes[Number(column)]?.size === sizes[i]), "`columns` and `sizes` must be those of the table in the task's domain");
            return narrow(cells);
        },
        encode(index, rng) {
            const digits = digitsOf(layer, index.tables[Number(table)], rng);
            return narrow(order.reduce((cell, factor) => cell * radices[factor] + digits[factor], 0n));
        },
    };
}
function extentOf(layer) {
    checkLayer(layer);
    const { columns, sizes, widths, weighted, rounded, mirrored, aligned } = layer;
    const coins = Array(+weighted + rounded.length).fill(2n);
    const intervals = columns.map((column, i) => intervalCount(sizes[i], widths[i], mirrored.includes(column)));
    const factors = [...intervals, ...coins];
    const extent = aligned ? alignedExtent(factors) : plainExtent(factors);
    need(extent.cells <= MAX_CELLS, CELLS_RULE);
    return extent;
}
function plainExtent(factors) {
    const cells = factors.reduce((product, factor) => product * factor, 1n);
    return { factors, order: [...factors.keys()], groups: [], cells };
}
function alignedExtent(factors) {
    const bits = factors.map(bitsOf);
    const order = [...factors.keys()].sort((left, right) => bits[left] - bits[right]);
    const fastestFirst = order.map((factor) => bits[factor]).reverse();
    const cells = 1n << BigInt(bits.reduce((sum, count) => sum + count, 0));
    return { factors, order, groups: fastestFirst.filter(Boolean), cells };
}
export function checkLayer(layer) {
    const { columns, sizes, widths, most, table, weighted, rounded, mirrored } = layer;
    const numbers = [...columns, ...sizes, ...widths, ...rounded, ...mirrored, most, table];
    const known = new Set(columns);
    need(numbers.every((number) => number >= 0), "the numbers of a cell must be at least 0");
    need(columns.length, "`columns` must not be empty");
    need(columns.length === sizes.length, "`sizes` must have one entry per column");
    need(columns.length === widths.length, "`widths` must have one entry per column");
    need(isAscending(columns), "`columns` must be in ascending order, each once");
    need(sizes.every((size) => size >= 2), "`sizes` must be at least 2");
    need([...rounded, ...mirrored].every((column) => known.has(column)), "`rounded` and `mirrored` must be among `columns`");
    need(mirrored.length <= 1, "`mirrored` must have at most one column");
    need(!rounded.includes(mirrored[0]), "a column has one rounding coin: it is mirrored or rounded");
    need(isAscending(rounded), "`rounded` must be in ascending order, each once");
    need(!weighted || most, "`weighted` must be false where `most` is 0");
    need(widths.every((width, i) => width || mirrored.includes(columns[i])), "`widths` must be at least 1, or 0 for the mirrored column");
}
export function intervalCount(size, width, isMirrored) {
    if (!width)
        return 1n;
    const count = (BigInt(size) - 1n) / BigInt(width) + 1n;
    return isMirrored ? 2n * count : count;
}
function bitsOf(factor) {
    return factor > 1n ? bitLength(factor - 1n) : 0;
}
function isAscending(numbers) {
    return numbers.every((number, i) => !i || number > numbers[i - 1]);
}
function digitsOf(layer, table, rng) {
    const { columns, sizes, widths, most, weighted, rounded, mirrored } = layer;
    const { record, counts } = most
        ? drawRecord(layer, table, rng)
        : { record: columnsOf(layer, table), counts: false };
    const roundsUp = new Map();
    for (const column of [...mirrored, ...rounded]) {
        const i = columns.indexOf(column);
        roundsUp.set(column, randomBelow(narrow(BigInt(sizes[i]) - 1n), rng) < record[i]);
    }
    const intervals = columns.map((column, i) => {
        const value = record[i];
        const size = BigInt(sizes[i]);
        const width = BigInt(widths[i]);
        if (!width)
            return 0n;
        if (!mirrored.includes(column))
            return value / width;
        const count = (size - 1n) / width + 1n;
        return roundsUp.get(column) ? count + value / width : (size - 1n - value) / width;
    });
    const coins = rounded.map((column) => roundsUp.get(column));
    if (weighted)
        coins.unshift(counts);
    return [...intervals, ...coins.map((coin) => BigInt(coin))];
}
function drawRecord(layer, records, rng) {
    const drawn = rng.integer(Math.max(records.length, 1));
    const invented = layer.sizes.map((size) => BigInt(randomBelow(size, rng)));
    const counts = randomBelow(layer.most, rng) < records.length;
    return { record: records.length ? columnsOf(layer, records[drawn]) : invented, counts };
}
function columnsOf({ columns }, record) {
    return columns.map((column) => BigInt(record[Number(column)]));
}
