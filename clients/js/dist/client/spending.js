import { nearest, stated } from "../maths/exact.js";
import { currentTime, recentCharges, total } from "../tasks/budget.js";
import { explain, statement } from "../wire/statement.js";
export async function explainFor(ledger, notice, round) {
    return explain(statement(notice, round, await spending(ledger)));
}
export function spending(ledger) {
    return ledger.update((file) => {
        const { charges, cap } = file;
        const time = currentTime(file, ledger.clock());
        const windows = file.windows.map((window) => {
            const recent = recentCharges(charges, window, time);
            return { ...window, spent: +nearest(total(recent)), used: recent.length };
        });
        return {
            spent: +nearest(total(charges)),
            cap: +cap,
            windows: windows.sort(byLength),
            collectors: collectorFacts(charges),
        };
    });
}
function collectorFacts(charges) {
    if (!charges.some(({ conditional }) => conditional))
        return undefined;
    const sum = (numbers) => +nearest(numbers.reduce((all, number) => all + stated(number), 0n));
    const epsilons = charges.map(({ epsilon, conditional }) => conditional?.epsilon ?? epsilon);
    const deltas = charges.flatMap(({ conditional }) => conditional?.delta ?? []);
    return { epsilon: sum(epsilons), delta: sum(deltas) };
}
function byLength(left, right) {
    return (left.seconds - right.seconds || left.epsilon - right.epsilon || left.reports - right.reports);
}
