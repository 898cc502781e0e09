import { leave, opened, total } from "./ledger_file.js";
import { rounded } from "../maths/decimal.js";
import { BudgetError, SottovoceError } from "../errors.js";
export class Ledger {
    options;
    now;
    constructor(options = {}) {
        this.options = options;
        this.now = options.now ?? (() => Date.now() / 1000);
    }
    async update(work) {
        try {
            return await this.exchange((stored) => {
                const book = opened(stored, this.options);
                return [book, work(book)];
            });
        }
        catch (error) {
            if (error instanceof SottovoceError)
                throw error;
            throw new BudgetError("the ledger cannot be read or written, so nothing was charged and nothing is sent", {
                cause: error,
            });
        }
    }
    spent() {
        return this.update((book) => ({ spent: +rounded(total(book.charges)), cap: +book.cap }));
    }
    entries() {
        return this.update((book) => book.charges);
    }
    refusals() {
        return this.update((book) => book.refused);
    }
    optOut(task = "") {
        return this.update((book) => leave(book, task));
    }
}
export class MemoryLedger extends Ledger {
    #book;
    async exchange(work) {
        const [book, result] = work(structuredClone(this.#book));
        this.#book = structuredClone(book);
        return result;
    }
}
