// Browsers: the ledger is stored in IndexedDB, under a Web Lock that all tabs share.  A marker in
// localStorage says that there has been a ledger, so that a database that was removed does not
// refill the budget.  Whoever clears the data of a site removes both.

import type { DeviceOptions } from "./client/device.js";
import { Device as AnyDevice } from "./client/device.js";
import type { LedgerOptions } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";
import type { LedgerFile } from "./client/ledger_file.js";
import { goneError } from "./client/ledger_file.js";
import { MissingExtraError } from "./errors.js";

export type { Consent, DeviceOptions, Flushed } from "./client/device.js";
export type { Receipt } from "./client/outbox.js";
export type { Route } from "./client/route.js";
export * from "./index.js";
export { LANGUAGES } from "./wire/languages.js";

const STORE = "ledger";

export class BrowserLedger extends Ledger {
  readonly name: string;

  constructor({ name = "sottovoce", ...options }: LedgerOptions & { name?: string } = {}) {
    super(options);
    this.name = name;
    if (!globalThis.indexedDB || !globalThis.navigator?.locks)
      throw new MissingExtraError(
        "a ledger needs IndexedDB and Web Locks: without them two tabs could spend the same budget",
      );
  }

  protected exchange<T>(work: (stored: LedgerFile | undefined) => [LedgerFile, T]): Promise<T> {
    return navigator.locks.request(`sottovoce/${this.name}`, async () => {
      const database = await openDatabase(this.name);
      const marker = `sottovoce/${this.name}.made`;
      const storage = localStorageIfAny();
      try {
        const result = await transact(database, (stored) => {
          if (!stored && storage?.getItem(marker)) throw goneError();
          return work(stored);
        });
        if (!storage?.getItem(marker)) mark(storage, marker);
        return result;
      } finally {
        database.close();
      }
    }) as Promise<T>;
  }
}

/** A device that takes the Global Privacy Control signal for a no, unless `consent` is given. */
export class Device extends AnyDevice {
  readonly #flushIfHidden = (): void => {
    if (document.visibilityState === "hidden") void this.flush().catch(() => {});
  };

  constructor(url: string, options: Partial<DeviceOptions> = {}) {
    const { ledger = new BrowserLedger(), consent = hasNoPrivacySignal } = options;
    super(url, { ...options, ledger, consent });
    document.addEventListener("visibilitychange", this.#flushIfHidden);
  }

  override close(): void {
    super.close();
    document.removeEventListener("visibilitychange", this.#flushIfHidden);
  }
}

function hasNoPrivacySignal(): boolean {
  return (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl !== true;
}

/** Returns the storage of the page; workers and some settings of browsers have none. */
function localStorageIfAny(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

function mark(storage: Storage | undefined, marker: string): void {
  try {
    storage?.setItem(marker, "This device has a ledger: without it, nothing is sent.");
  } catch {
    // The storage is full: the ledger has been written all the same.
  }
}

function openDatabase(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
}

/** Reads, works and writes in one transaction, which is on the disk when the promise resolves. */
function transact<T>(
  database: IDBDatabase,
  work: (stored: LedgerFile | undefined) => [LedgerFile, T],
): Promise<T> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    const request = store.get(STORE) as IDBRequest<LedgerFile | undefined>;
    let result: T;
    let thrown: unknown;
    request.onsuccess = () => {
      try {
        const [file, workResult] = work(request.result);
        store.put(file, STORE);
        result = workResult;
      } catch (error) {
        thrown = error;
        transaction.abort();
      }
    };
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(thrown ?? transaction.error);
  });
}
