import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { fields, list, whole } from "../wire/fields.js";
export const SHAPE = { columns: list(whole), sizes: list(whole) };
export function view(content) {
    return cell(fields(content, "view", SHAPE));
}
export function cell(asked) {
    const { columns, sizes } = checked(asked);
    need(cells(sizes) <= 1n << 62n, "the table of a view has at most 2^62 cells");
    return {
        outputs(domain) {
            checkAttributes(asked, domain);
            return narrow(cells(sizes));
        },
        encode(index) {
            const place = (cell, column, i) => cell * BigInt(sizes[i]) + held(index, column);
            return narrow(columns.reduce(place, 0n));
        },
    };
}
export function checked(asked) {
    const { columns, sizes } = asked;
    need(columns.length && columns.length === sizes.length && sizes.every((size) => size >= 2), "a view has at least one column, and for each its number of values, at least 2");
    const ascending = columns.every((column, i) => column > (i ? columns[i - 1] : -1));
    need(ascending, "the columns of a view are in ascending order, each once");
    return asked;
}
export function checkAttributes({ columns, sizes }, domain) {
    need(columns.every((column, i) => domain.attributes?.[Number(column)]?.size === sizes[i]), "this question asks about attributes that the domain does not have, or that have another size there");
}
export function cells(sizes) {
    return sizes.reduce((all, size) => all * BigInt(size), 1n);
}
export function held(record, column) {
    return BigInt(record[Number(column)]);
}
