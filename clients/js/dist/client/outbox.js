import { BudgetError } from "../errors.js";
const MOST_WAITING = 100;
const MOST_ATTEMPTS = 8;
const BUSY = 60;
export function enqueue(book, parcel, now, delay) {
    if (book.queue.length >= MOST_WAITING)
        throw new BudgetError(`${MOST_WAITING} reports wait for the network already: nothing was charged`);
    book.queue.push({ ...parcel, posted: now, due: now + delay, busy: false, attempts: 0 });
}
export function due(book, url, now, force) {
    return book.queue.filter((one) => one.url === url && !(waits(one, now) && (one.busy || !force)));
}
export function claim(book, { report }, now) {
    const parcel = book.queue.find((one) => one.report === report);
    if (!parcel || (parcel.busy && waits(parcel, now)))
        return undefined;
    return Object.assign(parcel, { posted: now, due: now + BUSY, busy: true, attempts: parcel.attempts + 1 });
}
export function settle(book, { report }, outcome, now) {
    const parcel = book.queue.find((one) => one.report === report);
    if (!parcel)
        return "sent";
    const { name, task, round, attempts } = parcel;
    if (outcome !== "sent" && "wait" in outcome && attempts < MOST_ATTEMPTS) {
        Object.assign(parcel, { posted: now, due: now + outcome.wait, busy: false });
        return "waiting";
    }
    book.queue.splice(book.queue.indexOf(parcel), 1);
    if (outcome === "sent")
        return "sent";
    const code = "refused" in outcome ? outcome.refused : "gave-up";
    book.refused = [...book.refused, { name, task, round, code }].slice(-MOST_WAITING);
    return "refused";
}
export function next(book, url, now) {
    const waits = book.queue
        .filter((one) => one.url === url)
        .map((one) => (one.posted <= now ? Math.max(0, one.due - now) : 0));
    return waits.length ? Math.min(...waits) : undefined;
}
function waits({ posted, due }, now) {
    return posted <= now && now < due;
}
