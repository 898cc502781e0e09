import type { DeviceOptions } from "./client/device.js";
import { Device as AnyDevice } from "./client/device.js";
import type { LedgerOptions } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";
import type { LedgerFile } from "./client/ledger_file.js";
export type { Consent, DeviceOptions, Flushed } from "./client/device.js";
export type { Receipt } from "./client/outbox.js";
export type { Route } from "./client/route.js";
export * from "./index.js";
export { LANGUAGES } from "./wire/languages.js";
export declare class BrowserLedger extends Ledger {
    readonly name: string;
    constructor({ name, ...options }?: LedgerOptions & {
        name?: string;
    });
    protected exchange<T>(work: (stored: LedgerFile | undefined) => [LedgerFile, T]): Promise<T>;
}
export declare class Device extends AnyDevice {
    #private;
    constructor(url: string, options?: Partial<DeviceOptions>);
    close(): void;
}
