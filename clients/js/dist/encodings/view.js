import { narrow } from "../domains/base.js";
import { need } from "../errors.js";
import { list, readFields, whole } from "../wire/fields.js";
const SHAPE = { columns: list(whole), sizes: list(whole) };
const MAX_CELLS = 1n << 62n;
const MAX_COLUMNS = 62;
export function read(document) {
    return view(readFields(document, "view", SHAPE));
}
export function view(asked) {
    checkColumns(asked);
    const { columns, sizes } = asked;
    const cells = cellCount(sizes);
    need(cells <= MAX_CELLS, "a view must have at most 2^62 cells");
    return {
        kind: "view",
        outputs(domain) {
            checkAttributes(asked, domain);
            return narrow(cells);
        },
        encode(index) {
            let cell = 0n;
            columns.forEach((column, i) => (cell = cell * BigInt(sizes[i]) + valueOf(index, column)));
            return narrow(cell);
        },
    };
}
function checkColumns({ columns, sizes }) {
    need(columns.length && columns.length <= MAX_COLUMNS, `\`columns\` must have from 1 to ${MAX_COLUMNS} entries`);
    need(columns.length === sizes.length, "`sizes` must have one entry per column");
    need(sizes.every((size) => size >= 2), "`sizes` must be at least 2");
    need(columns.every((column, i) => column > (i ? columns[i - 1] : -1)), "`columns` must be in ascending order, each once");
}
function checkAttributes({ columns, sizes }, domain) {
    need(columns.every((column, i) => domain.attributes?.[Number(column)]?.size === sizes[i]), "`columns` and `sizes` must be those of attributes of the task's domain");
}
export function cellCount(sizes) {
    return sizes.reduce((product, size) => product * BigInt(size), 1n);
}
function valueOf(record, column) {
    return BigInt(record[Number(column)]);
}
