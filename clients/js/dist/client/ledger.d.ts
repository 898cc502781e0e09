import type { Book, Charge, Limits, Refused } from "./ledger_file.js";
export type Work<T> = (book: Book) => T;
export interface Options extends Limits {
    now?: () => number;
}
export declare abstract class Ledger {
    readonly options: Options;
    readonly now: () => number;
    constructor(options?: Options);
    protected abstract exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T>;
    update<T>(work: Work<T>): Promise<T>;
    spent(): Promise<{
        spent: number;
        cap: number;
    }>;
    entries(): Promise<Charge[]>;
    refusals(): Promise<Refused[]>;
    optOut(task?: string): Promise<void>;
}
export declare class MemoryLedger extends Ledger {
    #private;
    protected exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T>;
}
