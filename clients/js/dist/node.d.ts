import type { LedgerOptions } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";
import type { LedgerFile } from "./client/ledger_file.js";
export { Device } from "./client/device.js";
export type { Consent, DeviceOptions, Flushed } from "./client/device.js";
export type { Receipt } from "./client/outbox.js";
export type { Route } from "./client/route.js";
export * from "./index.js";
export { LANGUAGES } from "./wire/languages.js";
export declare class FileLedger extends Ledger {
    readonly path: string;
    constructor(path: string, options?: LedgerOptions);
    get marker(): string;
    protected exchange<T>(work: (stored: LedgerFile | undefined) => [LedgerFile, T]): Promise<T>;
}
