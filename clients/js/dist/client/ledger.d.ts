import type { Charge } from "../tasks/budget.js";
import type { LedgerFile, Limits } from "./ledger_file.js";
import type { RefusedReport } from "./outbox.js";
export type Work<T> = (file: LedgerFile) => T;
export interface LedgerOptions extends Limits {
    clock?: () => number;
}
export declare abstract class Ledger {
    readonly options: LedgerOptions;
    readonly clock: () => number;
    constructor(options?: LedgerOptions);
    protected abstract exchange<T>(work: (stored: LedgerFile | undefined) => [LedgerFile, T]): Promise<T>;
    update<T>(work: Work<T>): Promise<T>;
    spent(): Promise<{
        spent: number;
        cap: number;
    }>;
    entries(): Promise<Charge[]>;
    refusals(): Promise<RefusedReport[]>;
    optOut(task?: string): Promise<void>;
}
export declare class MemoryLedger extends Ledger {
    #private;
    protected exchange<T>(work: (stored: LedgerFile | undefined) => [LedgerFile, T]): Promise<T>;
}
