// What a device may reveal in its life.  A collector cannot enforce a budget; only the device sees
// everything that it has answered.

import { BudgetError } from "../errors.js";
import { nearest, shortest, stated } from "../maths/exact.js";

/** The most that may be charged within `seconds`: in epsilon, and in number of charges. */
export interface SpendingWindow {
  readonly seconds: number;
  readonly epsilon: number;
  readonly reports: number;
}

/** What one answer costs.  A rehearsal costs 0.0, and counts as a report of every window. */
export interface Spend {
  readonly task: string;
  readonly name: string;
  readonly epsilon: string;
  readonly round: number;
  /** Whether the charge pays for every round of the task. */
  readonly longitudinal: boolean;
  readonly conditional?: Conditional | undefined;
}

/** What a shuffled answer reveals to the collector if a shuffler is honest; never charged. */
export interface Conditional {
  readonly epsilon: string;
  readonly delta: string;
}

export interface Charge {
  readonly task: string;
  readonly name: string;
  readonly epsilon: string;
  readonly time: number;
  readonly conditional?: Conditional;
}

/** The limits of a device, and what it was charged so far. */
export interface Budget {
  cap: string;
  windows: SpendingWindow[];
  charges: Charge[];
}

/** Returns the sum of the charges in units of 10^-324, so that ten tenths are one. */
export function total(charges: readonly Charge[]): bigint {
  return charges.reduce((sum, { epsilon }) => sum + stated(epsilon), 0n);
}

/** Enters a charge; refuses one that exceeds the cap or a window. */
export function charge(budget: Budget, spend: Spend, now: number): void {
  const { task, name, epsilon, conditional } = spend;
  const { cap, windows, charges } = budget;
  const price = stated(epsilon);
  if (!stated(cap))
    throw new BudgetError("the cap of this ledger is 0, so nothing leaves this device");
  if (charges.some((charge) => charge.task === task)) return; // paid before
  const left = stated(cap) - total(charges);
  if (price > left)
    throw new BudgetError(
      `this task costs epsilon ${epsilon}; of the cap of ${cap} only ${nearest(left)} is left`,
    );
  const time = currentTime(budget, now);
  for (const window of windows) {
    const recent = recentCharges(charges, window, time);
    const sum = total(recent) + price;
    if (recent.length >= window.reports || sum > stated(shortest(window.epsilon)))
      throw new BudgetError(
        `within ${window.seconds} seconds this device answers at most ${window.reports} times, ` +
          `for epsilon ${window.epsilon} together`,
      );
  }
  charges.push({ task, name, epsilon, time, ...(conditional && { conditional }) });
}

/** Returns the time, or that of the last charge: a clock that was set back refills nothing. */
export function currentTime({ charges }: Budget, now: number): number {
  return charges.reduce((latest, { time }) => Math.max(latest, time), now);
}

export function recentCharges(
  charges: readonly Charge[],
  window: SpendingWindow,
  time: number,
): Charge[] {
  return charges.filter((charge) => charge.time > time - window.seconds);
}
