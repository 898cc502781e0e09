// What a device has spent of what it may, and the statement of a task that tells it.

import { nearest } from "../maths/exact.js";
import type { SpendingWindow } from "../tasks/budget.js";
import { currentTime, recentCharges, total } from "../tasks/budget.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
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
}

/** Returns the statement of a round in plain words, with what the device has spent. */
export async function explainFor(ledger: Ledger, notice: Notice, round: Round): Promise<string> {
  return explain(statement(notice, round, await spending(ledger)));
}

export function spending(ledger: Ledger): Promise<DeviceFacts> {
  return ledger.update((file) => {
    const { charges, cap } = file;
    const time = currentTime(file, ledger.clock());
    const windows = file.windows.map((window) => {
      const recent = recentCharges(charges, window, time);
      return { ...window, spent: +nearest(total(recent)), used: recent.length };
    });
    return { spent: +nearest(total(charges)), cap: +cap, windows: windows.sort(byLength) };
  });
}

function byLength(left: SpendingWindow, right: SpendingWindow): number {
  return (
    left.seconds - right.seconds || left.epsilon - right.epsilon || left.reports - right.reports
  );
}
