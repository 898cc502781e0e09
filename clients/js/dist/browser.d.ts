import type { Book } from "./client/ledger_file.js";
import type { DeviceOptions } from "./client/device.js";
import { Device as AnyDevice } from "./client/device.js";
import type { Options } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";
export * from "./index.js";
export type { DeviceOptions, Flushed, Request } from "./client/device.js";
export declare class BrowserLedger extends Ledger {
    readonly name: string;
    constructor({ name, ...options }?: Options & {
        name?: string;
    });
    protected exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T>;
}
export declare class Device extends AnyDevice {
    #private;
    constructor(url: string, options?: Partial<DeviceOptions>);
    close(): void;
}
