import { utf8 } from "../bytes.js";
import { isContent } from "../wire/codec.js";
import { anyIndex, narrow, refuse } from "./base.js";
import { need, ParameterError } from "../errors.js";
import { fields, list, text } from "../wire/fields.js";
import { readDomain } from "../core/registry.js";
const PERSON = "uid";
const LARGEST_PUBLIC = 4096;
export function services(content) {
    const shape = { names: list(text), tables: list(readDomain), public: readDomain };
    const { names, tables, public: shown } = fields(content, "services", shape, ["public"]);
    need(names.length && names.length === tables.length, "services need one table for every name");
    need(!shown || shown.names, "public columns are those of a record");
    const seen = (shown ?? { names: [], attributes: [] });
    const columns = tables.map((table) => (table.records ?? table));
    const own = names.map((name) => seen.names.filter((one) => one.startsWith(`${name}.`)));
    check(names, tables, columns, seen);
    return {
        get size() {
            throw new ParameterError("a question about services needs an encoding");
        },
        tables: tables.map(({ most = 0 }, i) => ({ most, attributes: columns[i].attributes })),
        shown: seen.names,
        index(value) {
            const held = names.length === 1 ? [value] : parts(value, names, "tables");
            const open = {};
            const found = tables.map((table, i) => {
                if (!own[i].length)
                    return table.index(held[i]);
                const all = [...own[i].map((one) => one.slice(names[i].length + 1)), ...columns[i].names];
                const values = parts(held[i], all, "attributes");
                own[i].forEach((one, at) => (open[one] = values[at]));
                return columns[i].names.map((_, at) => columns[i].attributes[at].index(values[own[i].length + at]));
            });
            return { tables: found, public: shown && written(seen, open) };
        },
        anything(random) {
            const found = tables.map((table) => anyIndex(table, random));
            const drawn = seen.attributes.map((kind) => kind.valueAt(anyIndex(kind, random)));
            const open = Object.fromEntries(seen.names.map((name, i) => [name, drawn[i]]));
            return { tables: found, public: shown && written(seen, open) };
        },
    };
}
function check(names, tables, columns, seen) {
    need(columns.every((one) => one.names), "a service holds records, or lists of records");
    const kinds = [seen, ...columns].flatMap(({ attributes }) => attributes);
    need(kinds.every((kind) => kind.plain), "a column holds labels, whole numbers, or numbers in buckets or at points");
    const found = seen.names.map((name) => ({ table: name.split(".", 1)[0], column: name.replace(/^[^.]*\.?/, "") }));
    checkNames(names);
    columns.forEach((one, i) => {
        const beside = found.filter(({ table }) => table === names[i]);
        checkNames([...one.names, ...beside.map(({ column }) => column)]);
    });
    need(found.every(({ table }) => names.includes(table) && !tables[names.indexOf(table)].records), "a public column is of a table with one record per person: 'table.column'");
    const bytes = seen.names.reduce((sum, name, i) => sum + longest(name, seen.attributes[i]), 0);
    need(bytes <= LARGEST_PUBLIC, `public columns take at most ${LARGEST_PUBLIC} bytes together`);
}
function longest(name, { size, labels = ["-1.7976931348623157e+308"], valueAt }) {
    const ends = [valueAt(0), valueAt(narrow(BigInt(size) - 1n))];
    const exact = ends.every((end) => typeof end !== "bigint" || Number.isSafeInteger(Number(end)));
    need(exact, "public whole numbers lie between -2^53 and 2^53");
    return labels.reduce((most, label) => Math.max(most, utf8(JSON.stringify(label)).length), 0) + name.length + 8;
}
function checkNames(names) {
    const folded = new Set(names.map((name) => name.toLowerCase()));
    need(names.every((name) => /^[a-z_][a-z0-9_]{0,62}$/i.test(name)) && folded.size === names.length && !folded.has(PERSON), `names of tables and columns are letters, digits and _, differ by more than case, and are not '${PERSON}'`);
}
function parts(value, names, what) {
    const keys = isContent(value) ? Object.keys(value) : [];
    const fit = keys.length === names.length && keys.every((key) => names.includes(key));
    if (!fit)
        refuse(`an object of exactly the ${what} ${names.join(", ")}`);
    return names.map((name) => value[name]);
}
function written({ names, attributes }, open) {
    const entries = names.map((name, i) => `${JSON.stringify(name)}:${attributes[i].plain(open[name])}`);
    return `{${entries.sort()}}`;
}
