// What a device has spent of what it may, and the statement of a task that tells it.

import { nearest, stated } from "../maths/exact.js";
import type { Charge, SpendingWindow } from "../tasks/budget.js";
import { currentTime, recentCharges, total } from "../tasks/budget.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import { textsOf } from "../wire/languages.js";
import { explain, statement } from "../wire/statement.js";
import type { Ledger } from "./ledger.js";

export interface WindowFacts extends SpendingWindow {
  /** What was charged within the window, and how often. */
  readonly spent: number;
  readonly used: number;
}

export interface DeviceFacts {
  readonly spent: number;
  readonly cap: number;
  /** The shortest window first. */
  readonly windows: readonly WindowFacts[];
  /** What collectors can have learned if the shufflers are honest; nothing if none was used. */
  readonly collectors?: { readonly epsilon: number; readonly delta: number } | undefined;
}

/** Returns the statement of a round in plain words, with what the device has spent. */
export async function explainFor(
  ledger: Ledger,
  notice: Notice,
  round: Round,
  language: string,
): Promise<string> {
  const texts = await textsOf(language);
  return explain(statement(notice, round, await spending(ledger)), texts);
}

export function spending(ledger: Ledger): Promise<DeviceFacts> {
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

/** Sums the central epsilons of shuffled answers and the local ones of all others. */
function collectorFacts(charges: readonly Charge[]): DeviceFacts["collectors"] {
  if (!charges.some(({ conditional }) => conditional)) return undefined;
  const sum = (numbers: readonly string[]): number =>
    +nearest(numbers.reduce((all, number) => all + stated(number), 0n));
  const epsilons = charges.map(({ epsilon, conditional }) => conditional?.epsilon ?? epsilon);
  const deltas = charges.flatMap(({ conditional }) => conditional?.delta ?? []);
  return { epsilon: sum(epsilons), delta: sum(deltas) };
}

function byLength(left: SpendingWindow, right: SpendingWindow): number {
  return (
    left.seconds - right.seconds || left.epsilon - right.epsilon || left.reports - right.reports
  );
}
