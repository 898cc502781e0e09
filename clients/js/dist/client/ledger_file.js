import { hex, unhex } from "../bytes.js";
import { repr, rounded, stated } from "../maths/decimal.js";
import { BudgetError, need } from "../errors.js";
export function opened(stored, { cap = stored ? +stored.cap : 10, windows = [] }) {
    if (stored && stored.version !== 1)
        throw new BudgetError("this ledger was written by a newer version of this software");
    const limits = windows.flatMap(({ seconds, epsilon, reports }) => [seconds, epsilon, reports]);
    need(cap >= 0 && [cap + 1, ...limits].every((limit) => limit > 0 && isFinite(limit)), "a cap is at least 0, a window's limits are above 0");
    const book = stored ?? {
        version: 1,
        cap: repr(cap),
        windows: [],
        charges: [],
        pages: {},
        left: [],
        queue: [],
        refused: [],
    };
    need(+book.cap === cap, "this ledger was opened with another cap; a cap is never changed afterwards");
    const known = book.windows.map(spelled);
    book.windows.push(...windows.filter((one) => !known.includes(spelled(one))));
    return book;
}
export function answered(book, spend, now, make) {
    refuseAgain(book, spend);
    charge(book, spend, now);
    const message = make();
    pageOf(book, spend.task).messages[spend.round] = hex(message);
    return message;
}
export function refuseAgain(book, { task, round, lasting }) {
    const { messages } = pageOf(book, task);
    if (lasting ? round in messages : Object.keys(messages).length) {
        throw new BudgetError("this device has already answered; resend() repeats the same bytes");
    }
}
export function pageOf(book, task) {
    if (book.left.includes("") || book.left.includes(task))
        throw new BudgetError("the owner of this device has opted out");
    return (book.pages[task] ??= { messages: {}, memo: {} });
}
export function kept(page, name, bytes) {
    return unhex((page[name] ??= hex(bytes)));
}
export function total(charges) {
    return charges.reduce((sum, one) => sum + stated(one.epsilon), 0n);
}
export function leave(book, task) {
    book.left.push(task);
    for (const one of Object.keys(book.pages))
        if (!task || one === task)
            delete book.pages[one];
    book.queue = book.queue.filter((one) => task && one.task !== task);
}
function charge({ cap, windows, charges }, { task, name, epsilon }, now) {
    const wanted = stated(epsilon);
    if (!wanted || charges.some((one) => one.task === task))
        return;
    const left = stated(cap) - total(charges);
    if (wanted > left)
        throw new BudgetError(`this task costs epsilon ${epsilon}; of the cap of ${cap} only ${rounded(left)} is left`);
    const time = charges.reduce((latest, one) => Math.max(latest, one.time), now);
    for (const { seconds, epsilon: most, reports } of windows) {
        const recent = charges.filter((one) => one.time > time - seconds);
        if (recent.length >= reports || total(recent) + wanted > stated(repr(most))) {
            throw new BudgetError(`within ${seconds} seconds this device answers at most ${reports} times, for epsilon ${most} together`);
        }
    }
    charges.push({ task, name, epsilon, time });
}
function spelled({ seconds, epsilon, reports }) {
    return `${seconds} ${epsilon} ${reports}`;
}
