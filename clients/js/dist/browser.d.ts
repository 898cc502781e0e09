import type { Book } from "./book.js";
import type { DeviceOptions } from "./device.js";
import { Device as AnyDevice } from "./device.js";
import type { Options } from "./ledger.js";
import { Ledger } from "./ledger.js";
export * from "./index.js";
export type { DeviceOptions, Flushed, Request } from "./device.js";
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
