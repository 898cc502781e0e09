// The ledger of a device: one book, changed by one transaction at a time, each kept whole or not at all.

import type { Book, Charge, Limits, Refused } from "./ledger_file.js";
import { leave, opened, total } from "./ledger_file.js";
import { rounded } from "../maths/decimal.js";
import { BudgetError, SottovoceError } from "../errors.js";

export type Work<T> = (book: Book) => T;

export interface Options extends Limits {
  /** Returns the time in seconds. */
  now?: () => number;
}

export abstract class Ledger {
  readonly now: () => number;

  constructor(readonly options: Options = {}) {
    this.now = options.now ?? (() => Date.now() / 1000);
  }

  /** Runs the work on what is stored and stores what it leaves, alone; if it throws, nothing changes. */
  protected abstract exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T>;

  async update<T>(work: Work<T>): Promise<T> {
    try {
      return await this.exchange((stored) => {
        const book = opened(stored, this.options);
        return [book, work(book)];
      });
    } catch (error) {
      if (error instanceof SottovoceError) throw error;
      throw new BudgetError("the ledger cannot be read or written, so nothing was charged and nothing is sent", {
        cause: error,
      });
    }
  }

  /** Returns all that was ever charged, and the cap. */
  spent(): Promise<{ spent: number; cap: number }> {
    return this.update((book) => ({ spent: +rounded(total(book.charges)), cap: +book.cap }));
  }

  /** Returns what was charged, for showing to the device's owner. */
  entries(): Promise<Charge[]> {
    return this.update((book) => book.charges);
  }

  /** Returns the messages that no collector wanted, and why. */
  refusals(): Promise<Refused[]> {
    return this.update((book) => book.refused);
  }

  /** Erases secrets, remembered responses and messages of a task, or of all, and refuses from now on. */
  optOut(task = ""): Promise<void> {
    return this.update((book) => leave(book, task));
  }
}

/** A ledger that is gone with the page or process: for experiments only. */
export class MemoryLedger extends Ledger {
  #book: Book | undefined;

  protected async exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T> {
    const [book, result] = work(structuredClone(this.#book));
    this.#book = structuredClone(book); // what the work returns is not what is stored
    return result;
  }
}
