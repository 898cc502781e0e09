import { below, narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { fields, flag, list, whole } from "../wire/fields.js";
import { bitLength } from "../maths/hashing.js";
const MOST_CELLS = 1n << 62n;
export function cell(content) {
    const [one, some] = [whole, list(whole)];
    const shape = { table: one, columns: some, sizes: some, widths: some, most: one, rounded: some, mirrored: some };
    return cellOf(fields(content, "cell", { ...shape, weighted: flag, aligned: flag }));
}
export function cellOf(layer) {
    const { table, columns, sizes, most, aligned } = layer;
    const { factors, order, cells } = measured(layer);
    return {
        outputs(domain) {
            const asked = domain.tables?.[Number(table)];
            const there = asked && asked.most === most && columns.at(-1) < asked.attributes.length;
            need(there, "this question asks about a table or columns that the domain does not have");
            need(columns.every((column, i) => asked.attributes[Number(column)].size === sizes[i]), "this question asks about columns of other sizes than the domain has");
            return narrow(cells);
        },
        encode(index, random) {
            const parts = partsOf(layer, index.tables[Number(table)], random);
            const step = (place) => (aligned ? 1n << BigInt(bitsOf(factors[place])) : factors[place]);
            return narrow(order.reduce((found, place) => found * step(place) + parts[place], 0n));
        },
    };
}
export function measured(layer) {
    const { columns, sizes, widths, most, table, weighted, rounded, mirrored } = layer;
    need([...columns, ...sizes, ...widths, ...rounded, ...mirrored, most, table].every((one) => one >= 0) &&
        columns.length &&
        columns.length === sizes.length &&
        columns.length === widths.length, "a cell is of at least one column, each with a size and a width");
    need(ascending(columns) && sizes.every((size) => size >= 2), "the columns of a cell are in ascending order, each of at least two values");
    need([...rounded, ...mirrored].every((column) => columns.includes(column)) && mirrored.length <= 1, "rounded columns are among those of the cell, and at most one is mirrored");
    need(!rounded.includes(mirrored[0]), "a column has one rounding coin: it is mirrored or rounded");
    need(ascending(rounded) && (!weighted || most), "rounded columns are in ascending order, and only drawn records are weighed");
    const extent = extentOf(layer);
    need(widths.every((width, i) => width || mirrored.includes(columns[i])) && extent.cells <= MOST_CELLS, "an interval covers at least one value, and a layer has at most 2^62 cells");
    return extent;
}
function extentOf({ columns, sizes, widths, weighted, rounded, mirrored, aligned }) {
    const coins = Array(+weighted + rounded.length).fill(2n);
    const nodes = columns.map((column, i) => nodesOf(sizes[i], widths[i], mirrored.includes(column)));
    const factors = [...nodes, ...coins];
    const order = [...factors.keys()];
    if (!aligned)
        return { factors, order, groups: [], cells: factors.reduce((all, one) => all * one, 1n) };
    const bits = factors.map(bitsOf);
    order.sort((one, other) => bits[one] - bits[other]);
    const groups = order.map((place) => bits[place]).filter(Boolean);
    return { factors, order, groups: groups.reverse(), cells: 1n << BigInt(bits.reduce((all, one) => all + one, 0)) };
}
function nodesOf(size, width, doubled) {
    return width ? ((BigInt(size) - 1n) / BigInt(width) + 1n) * (doubled ? 2n : 1n) : 1n;
}
function bitsOf(factor) {
    return factor > 1n ? bitLength(factor - 1n) : 0;
}
function ascending(numbers) {
    return numbers.every((one, i) => !i || one > numbers[i - 1]);
}
function partsOf(layer, held, random) {
    const { columns, sizes, widths, most, weighted, rounded, mirrored } = layer;
    const { record, counts } = most ? drawn(layer, held, random) : alone(layer, held);
    const up = new Map();
    for (const column of [...mirrored, ...rounded]) {
        const place = columns.indexOf(column);
        up.set(column, below(narrow(BigInt(sizes[place]) - 1n), random) < record[place]);
    }
    const intervals = columns.map((column, i) => {
        const [value, size, width] = [record[i], BigInt(sizes[i]), BigInt(widths[i])];
        if (!width)
            return 0n;
        if (!mirrored.includes(column))
            return value / width;
        return up.get(column) ? (size - 1n) / width + 1n + value / width : (size - 1n - value) / width;
    });
    const coins = [...(weighted ? [counts] : []), ...rounded.map((column) => up.get(column))];
    return [...intervals, ...coins.map((coin) => BigInt(coin))];
}
function drawn(layer, records, random) {
    const place = random.integer(Math.max(records.length, 1));
    const made = layer.sizes.map((size) => BigInt(below(size, random)));
    const counts = below(layer.most, random) < records.length;
    return { record: records.length ? alone(layer, records[place]).record : made, counts };
}
function alone({ columns }, record) {
    return { record: columns.map((column) => BigInt(record[Number(column)])), counts: false };
}
