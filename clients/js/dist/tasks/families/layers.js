import { need } from "../../errors.js";
import { fields, list, text, whole } from "../../wire/fields.js";
import { readMechanism } from "../../core/registry.js";
import { cellOf, measured } from "../../encodings/cell.js";
const ALIGNED_FROM = 1n << 20n;
const MOST_LAYERS = 1 << 17;
const [one, some] = [whole, list(whole)];
const SHAPE = {
    ...{ table: one, columns: some, sizes: some, widths: list(some), mechanisms: list(readMechanism) },
    ...{ most: one, rounding: text, groups: some, first: one },
};
export function layers(content) {
    const family = read(content);
    const { mechanisms } = family;
    const shapes = shapesOf(family);
    const length = shapes.reduce((all, shape) => all + count(shape), 0) - family.first;
    need(length >= 1 && length <= MOST_LAYERS, `a table has from 1 to ${MOST_LAYERS} layers: fewer columns, or a larger fan-out`);
    const served = new Map(mechanisms.map((mechanism) => [key(mechanism.size, mechanism.groups), mechanism]));
    const asked = (place) => aligned(layerOf(family, shapes, place + family.first));
    const at = (place) => {
        const { layer, extent } = asked(place);
        const mechanism = serving(extent, served);
        return { mechanism, encoding: cellOf(layer), epsilon: mechanism.epsilon, width: mechanism.width };
    };
    const found = new Map();
    for (let place = 0; place < length; place++) {
        const mechanism = serving(asked(place).extent, served);
        if (!found.has(mechanism))
            found.set(mechanism, place);
    }
    const each = found.size === mechanisms.length && !found.has(undefined);
    need(each, "layers need one mechanism for every number of cells");
    return { length, at, different: [...found.values()].map(at) };
}
function read(content) {
    const { first, ...family } = fields(content, "layers", SHAPE);
    const { rounding, groups, widths, columns } = family;
    need(/^(none|one|all|mirror)$/.test(rounding) && !groups.length === (rounding === "none"), "a rounding is one of none, one, all, mirror, and names the columns it is for");
    need((first === 0 || first === 1) && widths.length === columns.length && widths.every((choices) => choices.length), "layers have some widths for every column, and leave out one layer at the most");
    need(rounding !== "mirror" || groups.every((column) => columns.includes(column)), "the columns of a rounding are among those of the layers");
    return { ...family, first };
}
function shapesOf({ columns, widths, rounding, groups }) {
    const plain = widths.map((choices) => choices.length);
    if (rounding === "mirror")
        return groups.map((own) => plain.map((many, i) => many + +(columns[i] === own)));
    const coins = { none: 0, one: 1, all: groups.length }[rounding];
    const shape = [...plain, ...Array(coins).fill(2)];
    return rounding === "one" ? groups.map(() => shape) : [shape];
}
function count(shape) {
    return shape.reduce((all, many) => all * many, 1);
}
function layerOf(family, shapes, place) {
    const { table, columns, sizes, most, rounding, groups } = family;
    let group = 0;
    for (let many; place >= (many = count(shapes[group])); group++)
        place -= many;
    const digits = shapes[group].reduceRight((found, radix) => {
        found.unshift(place % radix);
        place = Math.floor(place / radix);
        return found;
    }, []);
    const own = rounding === "all" ? groups : groups.slice(group, group + 1);
    const mirrored = rounding === "mirror" ? own : [];
    const rounded = own.filter((_, i) => digits[columns.length + i]);
    const widths = family.widths.map((choices, i) => mirrored.includes(columns[i]) ? [0, ...choices][digits[i]] : choices[digits[i]]);
    const weighted = Boolean(most) && (rounding === "none" || rounded.length > 0);
    return { table, columns, sizes, widths, most, weighted, rounded, mirrored, aligned: false };
}
function aligned(layer) {
    const extent = measured(layer);
    if (extent.cells <= ALIGNED_FROM)
        return { layer, extent };
    const whole = { ...layer, aligned: true };
    return { layer: whole, extent: measured(whole) };
}
function serving({ cells, groups }, served) {
    const size = cells < 2n ? 2n : cells;
    return served.get(key(size, groups)) ?? served.get(key(size));
}
function key(size, groups = []) {
    return `${size}:${groups}`;
}
