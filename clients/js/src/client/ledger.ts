// The ledger of a device.  One transaction at a time changes it, and is stored whole or not at all.

import { BudgetError, SottovoceError } from "../errors.js";
import { nearest } from "../maths/exact.js";
import type { Charge } from "../tasks/budget.js";
import { total } from "../tasks/budget.js";
import type { LedgerFile, Limits } from "./ledger_file.js";
import { eraseOldMessages, openLedgerFile, optOut } from "./ledger_file.js";
import type { RefusedReport } from "./outbox.js";

export type Work<T> = (file: LedgerFile) => T;

export interface LedgerOptions extends Limits {
  /** Returns the time in seconds. */
  clock?: () => number;
}

export abstract class Ledger {
  readonly clock: () => number;

  constructor(readonly options: LedgerOptions = {}) {
    this.clock = options.clock ?? (() => Date.now() / 1000);
  }

  /** Runs the work on what is stored and stores the result; if the work throws, nothing changes. */
  protected abstract exchange<T>(
    work: (stored: LedgerFile | undefined) => [LedgerFile, T],
  ): Promise<T>;

  async update<T>(work: Work<T>): Promise<T> {
    try {
      return await this.exchange((stored) => {
        const file = openLedgerFile(stored, this.options);
        eraseOldMessages(file, this.clock());
        return [file, work(file)];
      });
    } catch (error) {
      if (error instanceof SottovoceError) throw error;
      throw new BudgetError(
        "the ledger cannot be read or written, so nothing was charged and nothing is sent",
        { cause: error },
      );
    }
  }

  /** Returns the sum of all charges, and the cap. */
  spent(): Promise<{ spent: number; cap: number }> {
    return this.update(({ charges, cap }) => ({ spent: +nearest(total(charges)), cap: +cap }));
  }

  /** Returns all charges, to show to the owner of the device. */
  entries(): Promise<Charge[]> {
    return this.update((file) => file.charges);
  }

  /** Returns the reports that no collector accepted, and why. */
  refusals(): Promise<RefusedReport[]> {
    return this.update((file) => file.refused);
  }

  /** Erases what a task, or every task, may still send or build on, and refuses to answer it. */
  optOut(task = ""): Promise<void> {
    return this.update((file) => optOut(file, task));
  }
}

/** A ledger that ends with the page or the process: for experiments only. */
export class MemoryLedger extends Ledger {
  #file: LedgerFile | undefined;

  protected async exchange<T>(
    work: (stored: LedgerFile | undefined) => [LedgerFile, T],
  ): Promise<T> {
    const [file, result] = work(structuredClone(this.#file));
    this.#file = structuredClone(file); // the caller cannot reach what is stored
    return result;
  }
}
