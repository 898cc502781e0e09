// Browsers: the ledger lives in IndexedDB, under a lock that all tabs share.  Without both there is no ledger.

import type { Book } from "./client/ledger_file.js";
import type { DeviceOptions } from "./client/device.js";
import { Device as AnyDevice } from "./client/device.js";
import { MissingExtraError } from "./errors.js";
import type { Options } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";

export * from "./index.js";
export type { DeviceOptions, Flushed, Request } from "./client/device.js";

const STORE = "book";

export class BrowserLedger extends Ledger {
  readonly name: string;

  constructor({ name = "sottovoce", ...options }: Options & { name?: string } = {}) {
    super(options);
    this.name = name;
    if (!globalThis.indexedDB || !globalThis.navigator?.locks) {
      throw new MissingExtraError(
        "without IndexedDB and Web Locks two tabs could spend the same budget: nothing is answered here",
      );
    }
  }

  protected exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T> {
    return navigator.locks.request(`sottovoce/${this.name}`, async () => {
      const database = await opened(this.name);
      try {
        return await exchanged(database, work);
      } finally {
        database.close();
      }
    }) as Promise<T>;
  }
}

/** A device whose owner's global signal against tracking counts as a no unless they say yes. */
export class Device extends AnyDevice {
  readonly #hidden = (): void => {
    if (document.visibilityState === "hidden") void this.flush().catch(() => {});
  };

  constructor(url: string, options: Partial<DeviceOptions> = {}) {
    const silent = (): boolean => (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl !== true;
    super(url, { ...options, ledger: options.ledger ?? new BrowserLedger(), consent: options.consent ?? silent });
    document.addEventListener("visibilitychange", this.#hidden);
  }

  override close(): void {
    super.close();
    document.removeEventListener("visibilitychange", this.#hidden);
  }
}

function opened(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });
}

/** Reads, works and writes in one transaction, which is on the disk when this returns. */
function exchanged<T>(database: IDBDatabase, work: (stored: Book | undefined) => [Book, T]): Promise<T> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    const found = store.get(STORE) as IDBRequest<Book | undefined>;
    let result: T;
    let thrown: unknown;
    found.onsuccess = () => {
      try {
        const [book, made] = work(found.result);
        store.put(book, STORE);
        result = made;
      } catch (error) {
        thrown = error;
        transaction.abort();
      }
    };
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(thrown ?? transaction.error);
  });
}
