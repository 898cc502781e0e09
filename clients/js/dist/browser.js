import { Device as AnyDevice } from "./client/device.js";
import { MissingExtraError } from "./errors.js";
import { Ledger } from "./client/ledger.js";
export * from "./index.js";
const STORE = "book";
export class BrowserLedger extends Ledger {
    name;
    constructor({ name = "sottovoce", ...options } = {}) {
        super(options);
        this.name = name;
        if (!globalThis.indexedDB || !globalThis.navigator?.locks) {
            throw new MissingExtraError("without IndexedDB and Web Locks two tabs could spend the same budget: nothing is answered here");
        }
    }
    exchange(work) {
        return navigator.locks.request(`sottovoce/${this.name}`, async () => {
            const database = await opened(this.name);
            try {
                return await exchanged(database, work);
            }
            finally {
                database.close();
            }
        });
    }
}
export class Device extends AnyDevice {
    #hidden = () => {
        if (document.visibilityState === "hidden")
            void this.flush().catch(() => { });
    };
    constructor(url, options = {}) {
        const silent = () => navigator.globalPrivacyControl !== true;
        super(url, { ...options, ledger: options.ledger ?? new BrowserLedger(), consent: options.consent ?? silent });
        document.addEventListener("visibilitychange", this.#hidden);
    }
    close() {
        super.close();
        document.removeEventListener("visibilitychange", this.#hidden);
    }
}
function opened(name) {
    return new Promise((resolve, reject) => {
        const request = indexedDB.open(name, 1);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE);
        request.onsuccess = () => resolve(request.result);
        request.onerror = request.onblocked = () => reject(request.error);
    });
}
function exchanged(database, work) {
    return new Promise((resolve, reject) => {
        const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
        const store = transaction.objectStore(STORE);
        const found = store.get(STORE);
        let result;
        let thrown;
        found.onsuccess = () => {
            try {
                const [book, made] = work(found.result);
                store.put(book, STORE);
                result = made;
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
