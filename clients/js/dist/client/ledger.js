import { BudgetError, SottovoceError } from "../errors.js";
import { nearest } from "../maths/exact.js";
import { total } from "../tasks/budget.js";
import { eraseOldMessages, openLedgerFile, optOut } from "./ledger_file.js";
export class Ledger {
    options;
    clock;
    constructor(options = {}) {
        this.options = options;
        this.clock = options.clock ?? (() => Date.now() / 1000);
    }
    async update(work) {
        try {
            return await this.exchange((stored) => {
                const file = openLedgerFile(stored, this.options);
                eraseOldMessages(file, this.clock());
                return [file, work(file)];
            });
        }
        catch (error) {
            if (error instanceof SottovoceError)
                throw error;
            throw new BudgetError("the ledger cannot be read or written, so nothing was charged and nothing is sent", { cause: error });
        }
    }
    spent() {
        return this.update(({ charges, cap }) => ({ spent: +nearest(total(charges)), cap: +cap }));
    }
    entries() {
        return this.update((file) => file.charges);
    }
    refusals() {
        return this.update((file) => file.refused);
    }
    optOut(task = "") {
        return this.update((file) => optOut(file, task));
    }
}
export class MemoryLedger extends Ledger {
    #file;
    async exchange(work) {
        const [file, result] = work(structuredClone(this.#file));
        this.#file = structuredClone(file);
        return result;
    }
}
