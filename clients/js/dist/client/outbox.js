import { BudgetError } from "../errors.js";
import { acknowledge } from "./ledger_file.js";
const MAX_WAITING = 100;
const MAX_SENDING = 60;
export function refuseFull(file, url) {
    if (waitingReports(file, url).length >= MAX_WAITING)
        throw new BudgetError(`${MAX_WAITING} reports wait for the network already, so nothing was charged`);
}
export function post(file, posting, now, delay) {
    const fresh = { posted: now, due: now + delay, sending: false, attempts: 0, reason: "" };
    file.outbox.push({ ...posting, ...fresh });
}
export function dueReports(file, url, now, force) {
    const isDue = (report) => !waits(report, now) || (force && !report.sending);
    return waitingReports(file, url).filter(isDue);
}
export function waitingReports(file, url) {
    return file.outbox.filter((report) => (report.origin ?? report.url) === url);
}
export function claim(file, { message }, now) {
    const report = file.outbox.find((waiting) => waiting.message === message);
    if (!report || (report.sending && waits(report, now)))
        return undefined;
    const attempts = report.attempts + 1;
    return Object.assign(report, { posted: now, due: now + MAX_SENDING, sending: true, attempts });
}
export function settle(file, { message }, receipt, now) {
    const report = file.outbox.find((waiting) => waiting.message === message);
    if (!report)
        return "sent";
    if (receipt !== "sent" && "wait" in receipt) {
        const { wait, reason } = receipt;
        Object.assign(report, { posted: now, due: now + wait, sending: false, reason });
        return "waiting";
    }
    file.outbox.splice(file.outbox.indexOf(report), 1);
    const { name, task, round } = report;
    if (receipt === "sent") {
        acknowledge(file, task, round, now);
        return "sent";
    }
    const refused = { name, task, round, code: receipt.refused };
    file.refused = [...file.refused, refused].slice(-MAX_WAITING);
    return "refused";
}
export function secondsToNext(file, url, now) {
    const secondsLeft = (report) => (waits(report, now) ? report.due - now : 0);
    const seconds = waitingReports(file, url).map(secondsLeft);
    return seconds.length ? Math.min(...seconds) : undefined;
}
function waits({ posted, due }, now) {
    return posted <= now && now < due;
}
