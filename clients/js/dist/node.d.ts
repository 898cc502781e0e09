import type { Book } from "./client/ledger_file.js";
import type { Options } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";
export * from "./index.js";
export { Device } from "./client/device.js";
export type { DeviceOptions, Flushed, Request } from "./client/device.js";
export declare class FileLedger extends Ledger {
    readonly path: string;
    constructor(path: string, options?: Options);
    protected exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T>;
}
