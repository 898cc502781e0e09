import { readMechanism } from "../../core/registry.js";
import { cell, extentOf } from "../../encodings/cell.js";
import { need } from "../../errors.js";
import { list, readFields, text, whole } from "../../wire/fields.js";
import { Question } from "../question.js";
const ALIGNED_ABOVE = 1n << 20n;
const MAX_LAYERS = 1 << 17;
const SHAPE = {
    table: whole,
    columns: list(whole),
    sizes: list(whole),
    widths: list(list(whole)),
    mechanisms: list(readMechanism),
    most: whole,
    rounding: text,
    groups: list(whole),
    first: whole,
};
export function read(document) {
    const settings = readSettings(document);
    const { mechanisms, first } = settings;
    const radices = groupRadices(settings);
    const length = radices.reduce((sum, group) => sum + product(group), 0) - first;
    need(length >= 1 && length <= MAX_LAYERS, `a table must have from 1 to ${MAX_LAYERS} layers: ask for fewer columns or a larger fan-out`);
    const byKey = new Map(mechanisms.map((mechanism) => [keyOf(mechanism), mechanism]));
    const layerAt = (index) => alignLarge(layerOf(settings, radices, index + first));
    const at = (index) => {
        const { layer, extent } = layerAt(index);
        return new Question(mechanismFor(extent, byKey), cell(layer));
    };
    const firstMembers = new Map();
    for (let index = 0; index < length; index++) {
        const mechanism = mechanismFor(layerAt(index).extent, byKey);
        if (!firstMembers.has(mechanism))
            firstMembers.set(mechanism, index);
    }
    need(firstMembers.size === mechanisms.length && !firstMembers.has(undefined), "`mechanisms` must have one entry for every number of cells");
    const representatives = [...firstMembers.values()].map(at);
    return { length, at, representatives, table: settings.table };
}
function readSettings(document) {
    const { first, ...settings } = readFields(document, "layers", SHAPE);
    const { rounding, groups, widths, columns } = settings;
    need(/^(none|one|all|mirror)$/.test(rounding), "`rounding` must be one of none, one, all, mirror");
    need(!groups.length === (rounding === "none"), "`groups` must name columns if, and only if, there is a `rounding`");
    need(first === 0 || first === 1, "`first` must be 0 or 1");
    need(widths.length === columns.length, "`widths` must have one list per column");
    need(widths.every((choices) => choices.length), "`widths` must have at least one entry for every column");
    need(rounding !== "mirror" || groups.every((column) => columns.includes(column)), "`groups` must be among `columns`");
    return { ...settings, first };
}
function groupRadices({ columns, widths, rounding, groups }) {
    const choices = widths.map((list) => list.length);
    if (rounding === "mirror")
        return groups.map((own) => choices.map((count, i) => count + +(columns[i] === own)));
    const coins = { none: 0, one: 1, all: groups.length }[rounding];
    const radices = [...choices, ...Array(coins).fill(2)];
    return rounding === "one" ? groups.map(() => radices) : [radices];
}
function product(numbers) {
    return numbers.reduce((result, number) => result * number, 1);
}
function layerOf(settings, radices, member) {
    const { table, columns, sizes, most, rounding, groups } = settings;
    let group = 0;
    while (member >= product(radices[group]))
        member -= product(radices[group++]);
    const digits = digitsOf(member, radices[group]);
    const coins = rounding === "all" ? groups : groups.slice(group, group + 1);
    const mirrored = rounding === "mirror" ? coins : [];
    const rounded = coins.filter((_, i) => digits[columns.length + i]);
    const widths = settings.widths.map((choices, i) => {
        const isMirrored = mirrored.includes(columns[i]);
        return (isMirrored ? [0, ...choices] : choices)[digits[i]];
    });
    const weighted = Boolean(most) && (rounding === "none" || rounded.length > 0);
    return { table, columns, sizes, widths, most, weighted, rounded, mirrored, aligned: false };
}
function digitsOf(number, radices) {
    return radices.reduceRight((digits, radix) => {
        digits.unshift(number % radix);
        number = Math.floor(number / radix);
        return digits;
    }, []);
}
function alignLarge(layer) {
    const extent = extentOf(layer);
    if (extent.cells <= ALIGNED_ABOVE)
        return { layer, extent };
    const aligned = { ...layer, aligned: true };
    return { layer: aligned, extent: extentOf(aligned) };
}
function mechanismFor({ cells, groups }, byKey) {
    const size = cells < 2n ? 2n : cells;
    return byKey.get(keyOf({ size, groups })) ?? byKey.get(keyOf({ size }));
}
function keyOf({ size, groups = [] }) {
    return `${size}:${groups}`;
}
