import { need } from "../../errors.js";
import { fields, list, whole } from "../../wire/fields.js";
import { readMechanism } from "../../core/registry.js";
import { cell, cells } from "../../encodings/view.js";
export function views(content) {
    const shape = { sizes: list(whole), columns: list(list(whole)), mechanisms: list(readMechanism) };
    const { sizes, columns, mechanisms } = fields(content, "views", shape);
    const there = (one) => one.every((column) => column >= 0 && column < sizes.length);
    need(columns.length && columns.every(there), "there is at least one view, and each is of attributes that there are");
    need(new Set(columns.map(String)).size === columns.length, "no two views are the same");
    const serving = new Map(mechanisms.map((mechanism) => [String(mechanism.size), mechanism]));
    const members = columns.map((one) => {
        const own = one.map((column) => sizes[Number(column)]);
        const encoding = cell({ columns: one, sizes: own });
        const mechanism = serving.get(String(cells(own)));
        need(mechanism, "views need one mechanism for every number of cells");
        return { mechanism, encoding, epsilon: mechanism.epsilon, width: mechanism.width };
    });
    const different = mechanisms.flatMap((mechanism) => members.find((one) => one.mechanism === mechanism) ?? []);
    need(different.length === mechanisms.length, "views need no mechanism twice, nor one for other numbers of cells");
    return { length: members.length, at: (place) => members[place], different };
}
