import { BudgetError } from "../errors.js";
import { nearest, shortest, stated } from "../maths/exact.js";
export function total(charges) {
    return charges.reduce((sum, { epsilon }) => sum + stated(epsilon), 0n);
}
export function charge(budget, spend, now) {
    const { task, name, epsilon, conditional } = spend;
    const { cap, windows, charges } = budget;
    const price = stated(epsilon);
    if (!stated(cap))
        throw new BudgetError("the cap of this ledger is 0, so nothing leaves this device");
    if (charges.some((charge) => charge.task === task))
        return;
    const left = stated(cap) - total(charges);
    if (price > left)
        throw new BudgetError(`this task costs epsilon ${epsilon}; of the cap of ${cap} only ${nearest(left)} is left`);
    const time = currentTime(budget, now);
    for (const window of windows) {
        const recent = recentCharges(charges, window, time);
        const sum = total(recent) + price;
        if (recent.length >= window.reports || sum > stated(shortest(window.epsilon)))
            throw new BudgetError(`within ${window.seconds} seconds this device answers at most ${window.reports} times, ` +
                `for epsilon ${window.epsilon} together`);
    }
    charges.push({ task, name, epsilon, time, ...(conditional && { conditional }) });
}
export function currentTime({ charges }, now) {
    return charges.reduce((latest, { time }) => Math.max(latest, time), now);
}
export function recentCharges(charges, window, time) {
    return charges.filter((charge) => charge.time > time - window.seconds);
}
