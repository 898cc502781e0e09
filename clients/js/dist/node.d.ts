import type { Book } from "./book.js";
import type { Options } from "./ledger.js";
import { Ledger } from "./ledger.js";
export * from "./index.js";
export { Device } from "./device.js";
export type { DeviceOptions, Flushed, Request } from "./device.js";
export declare class FileLedger extends Ledger {
    readonly path: string;
    constructor(path: string, options?: Options);
    protected exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T>;
}
