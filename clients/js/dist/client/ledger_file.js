import { hex, unhex } from "../bytes.js";
import { BudgetError, need } from "../errors.js";
import { shortest } from "../maths/exact.js";
import { charge } from "../tasks/budget.js";
export const MESSAGE_DAYS = 30;
const VERSION = 1;
const DEFAULT_CAP = 10;
const EVERY_TASK = "";
const DAY = 86_400;
export function goneError() {
    return new BudgetError("this device has had a ledger that is gone or cut, so what it has spent is not known: " +
        "nothing is sent; restore it, or remove the marker to begin anew");
}
export function openLedgerFile(stored, limits) {
    if (stored && stored.version !== VERSION)
        throw new BudgetError("this ledger was written by a newer version of this software");
    const { cap = stored ? +stored.cap : DEFAULT_CAP, windows = [] } = limits;
    need(cap >= 0 && isFinite(cap), "`cap` must be a number of at least 0");
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
        meanings: [],
    };
}
function windowKey({ seconds, epsilon, reports }) {
    return `${seconds} ${epsilon} ${reports}`;
}
export function answerOnce(file, spend, now, make) {
    refuseAgain(file, spend);
    charge(file, spend, now);
    const message = make();
    taskEntry(file, spend.task).messages[spend.round] = { bytes: hex(message) };
    return message;
}
export function refuseAgain(file, { task, round, longitudinal }) {
    const { messages } = taskEntry(file, task);
    const answered = longitudinal ? round in messages : Object.keys(messages).length;
    if (answered)
        throw new BudgetError(`this device has already answered this ${longitudinal ? "round" : "task"}; ` +
            "resend() repeats the same bytes");
}
export function acknowledge(file, task, round, now) {
    const message = file.tasks[task]?.messages[round];
    if (message)
        message.acknowledged = now;
}
export function eraseOldMessages({ tasks }, now) {
    for (const { messages } of Object.values(tasks))
        for (const message of Object.values(messages))
            if (now - (message.acknowledged ?? now) >= MESSAGE_DAYS * DAY)
                message.bytes = "";
}
export function taskEntry(file, task) {
    if (file.optedOut.includes(EVERY_TASK) || file.optedOut.includes(task))
        throw new BudgetError("the owner of this device has opted out of this task");
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
