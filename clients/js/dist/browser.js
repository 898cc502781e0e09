import { Device as AnyDevice } from "./client/device.js";
import { Ledger } from "./client/ledger.js";
import { goneError } from "./client/ledger_file.js";
import { MissingExtraError } from "./errors.js";
export * from "./index.js";
const STORE = "ledger";
export class BrowserLedger extends Ledger {
    name;
    constructor({ name = "sottovoce", ...options } = {}) {
        super(options);
        this.name = name;
        if (!globalThis.indexedDB || !globalThis.navigator?.locks)
            throw new MissingExtraError("a ledger needs IndexedDB and Web Locks: without them two tabs could spend the same budget");
    }
    exchange(work) {
        return navigator.locks.request(`sottovoce/${this.name}`, async () => {
            const database = await openDatabase(this.name);
            const marker = `sottovoce/${this.name}.made`;
            const storage = localStorageIfAny();
            try {
                const result = await transact(database, (stored) => {
                    if (!stored && storage?.getItem(marker))
                        throw goneError();
                    return work(stored);
                });
                if (!storage?.getItem(marker))
                    mark(storage, marker);
                return result;
            }
            finally {
                database.close();
            }
        });
    }
}
export class Device extends AnyDevice {
    #flushIfHidden = () => {
        if (document.visibilityState === "hidden")
            void this.flush().catch(() => { });
    };
    constructor(url, options = {}) {
        const { ledger = new BrowserLedger(), consent = hasNoPrivacySignal } = options;
        super(url, { ...options, ledger, consent });
        document.addEventListener("visibilitychange", this.#flushIfHidden);
    }
    close() {
        super.close();
        document.removeEventListener("visibilitychange", this.#flushIfHidden);
    }
}
function hasNoPrivacySignal() {
    return navigator.globalPrivacyControl !== true;
}
function localStorageIfAny() {
    try {
        return globalThis.localStorage;
    }
    catch {
        return undefined;
    }
}
function mark(storage, marker) {
    try {
        storage?.setItem(marker, "This device has a ledger: without it, nothing is sent.");
    }
    catch {
    }
}
function openDatabase(name) {
    return new Promise((resolve, reject) => {
        const request = indexedDB.open(name, 1);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE);
        request.onsuccess = () => resolve(request.result);
        request.onerror = request.onblocked = () => reject(request.error);
    });
}
function transact(database, work) {
    return new Promise((resolve, reject) => {
        const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
        const store = transaction.objectStore(STORE);
        const request = store.get(STORE);
        let result;
        let thrown;
        request.onsuccess = () => {
            try {
                const [file, workResult] = work(request.result);
                store.put(file, STORE);
                result = workResult;
            }
            catch (error) {
                thrown = error;
                transaction.abort();
            }
        };
        transaction.oncomplete = () => resolve(result);
        transaction.onabort = () => reject(thrown ?? transaction.error);
    });
}
