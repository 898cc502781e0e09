import { link, mkdir, open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { Ledger } from "./client/ledger.js";
import { goneError } from "./client/ledger_file.js";
import { BudgetError } from "./errors.js";
export { Device } from "./client/device.js";
export * from "./index.js";
const LOCK_TIMEOUT = 30;
const LOCK_PAUSE = 5;
const MARKER_TEXT = "This device has a ledger: without it, nothing is sent.\n";
export class FileLedger extends Ledger {
    path;
    constructor(path, options = {}) {
        super(options);
        this.path = resolve(path);
    }
    get marker() {
        return `${this.path}.made`;
    }
    async exchange(work) {
        await mkdir(dirname(this.path), { recursive: true });
        const lock = `${this.path}.lock`;
        await takeLock(lock);
        try {
            const isMarked = (await readIfExists(this.marker)) !== undefined;
            const [file, result] = work(readLedger(await readIfExists(this.path), isMarked));
            await replaceFile(this.path, JSON.stringify(file));
            if (!isMarked)
                await replaceFile(this.marker, MARKER_TEXT);
            return result;
        }
        finally {
            await unlink(lock);
        }
    }
}
function readLedger(text, isMarked) {
    if (!text && !isMarked)
        return undefined;
    let file = {};
    try {
        file = JSON.parse(text || "{}");
    }
    catch (error) {
        if (!isMarked)
            throw error;
    }
    if (isMarked && file.version === undefined)
        throw goneError();
    return file;
}
async function takeLock(lock) {
    const holder = `${process.pid}@${hostname()}`;
    const end = Date.now() + 1000 * LOCK_TIMEOUT;
    while (!(await createFile(lock, holder))) {
        if (Date.now() > end)
            throw new BudgetError(`another process holds the lock of the ledger; if none runs, delete ${lock}`);
        await removeStaleLock(lock, holder);
        await new Promise((done) => setTimeout(done, LOCK_PAUSE));
    }
}
async function removeStaleLock(lock, holder) {
    const guard = `${lock}.break`;
    if (!hasEnded(await readIfExists(lock)) || !(await createFile(guard, holder)))
        return;
    try {
        if (hasEnded(await readIfExists(lock)))
            await unlink(lock);
    }
    finally {
        await unlink(guard);
    }
}
function hasEnded(holder) {
    const [pid, host] = (holder ?? "").split("@");
    if (!pid || host !== hostname())
        return false;
    try {
        process.kill(+pid, 0);
        return false;
    }
    catch (error) {
        return codeOf(error) === "ESRCH";
    }
}
async function createFile(path, text) {
    if ((await readIfExists(path)) !== undefined)
        return false;
    const draft = `${path}.${crypto.randomUUID()}`;
    await writeFile(draft, text, { mode: 0o600 });
    try {
        await link(draft, path);
        return true;
    }
    catch (error) {
        if (codeOf(error) === "EEXIST")
            return false;
        throw error;
    }
    finally {
        await unlink(draft);
    }
}
async function replaceFile(path, text) {
    const draft = `${path}.new`;
    const file = await open(draft, "w", 0o600);
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(draft, path);
    if (process.platform === "win32")
        return;
    const folder = await open(dirname(path), "r");
    await folder.sync().finally(() => folder.close());
}
async function readIfExists(path) {
    try {
        return await readFile(path, "utf8");
    }
    catch (error) {
        if (codeOf(error) === "ENOENT")
            return undefined;
        throw error;
    }
}
function codeOf(error) {
    return error.code;
}
