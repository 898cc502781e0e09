import { hex, unhex } from "../bytes.js";
import { BudgetError, need } from "../errors.js";
import { shortest } from "../maths/exact.js";
import { charge } from "../tasks/budget.js";
const VERSION = 1;
const DEFAULT_CAP = 10;
const EVERY_TASK = "";
export function openLedgerFile(stored, limits) {
    if (stored && stored.version !== VERSION)
        throw new BudgetError("this ledger was written by a newer version of this software");
    const { cap = stored ? +stored.cap : DEFAULT_CAP, windows = [] } = limits;
    need(cap >= 0 && isFinite(cap), "`cap` of a ledger must be a number from 0 up");
    for (const { seconds, epsilon, reports } of windows)
        need([seconds, epsilon, reports].every((limit) => limit > 0 && isFinite(limit)), "`seconds`, `epsilon` and `reports` of a window must be above 0");
    const file = stored ?? newLedgerFile(cap);
    need(+file.cap === cap, "`cap` of a ledger cannot be changed after it was made");
    const known = file.windows.map(windowKey);
    file.windows.push(...windows.filter((window) => !known.includes(windowKey(window))));
    return file;
}
function newLedgerFile(cap) {
    return {
        version: VERSION,
        cap: shortest(cap),
        windows: [],
        charges: [],
        tasks: {},
        optedOut: [],
        outbox: [],
        refused: [],
    };
}
function windowKey({ seconds, epsilon, reports }) {
    return `${seconds} ${epsilon} ${reports}`;
}
export function answerOnce(file, spend, now, make) {
    refuseAgain(file, spend);
    charge(file, spend, now);
    const message = make();
    taskEntry(file, spend.task).messages[spend.round] = hex(message);
    return message;
}
export function refuseAgain(file, { task, round, longitudinal }) {
    const { messages } = taskEntry(file, task);
    const answered = longitudinal ? round in messages : Object.keys(messages).length;
    if (answered)
        throw new BudgetError("this device has already answered; resend() repeats the same bytes");
}
export function taskEntry(file, task) {
    if (file.optedOut.includes(EVERY_TASK) || file.optedOut.includes(task))
        throw new BudgetError("the owner of this device has opted out");
    return (file.tasks[task] ??= { messages: {}, responses: {} });
}
export function keepBytes(entry, name, bytes) {
    return unhex((entry[name] ??= hex(bytes)));
}
export function optOut(file, task) {
    file.optedOut.push(task);
    for (const digest of Object.keys(file.tasks))
        if (task === EVERY_TASK || digest === task)
            delete file.tasks[digest];
    file.outbox = file.outbox.filter((report) => task !== EVERY_TASK && report.task !== task);
}
