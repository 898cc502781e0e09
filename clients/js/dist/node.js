import { link, mkdir, open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { BudgetError } from "./errors.js";
import { Ledger } from "./client/ledger.js";
export * from "./index.js";
export { Device } from "./client/device.js";
const PATIENCE = 30;
const PAUSE = 5;
export class FileLedger extends Ledger {
    path;
    constructor(path, options = {}) {
        super(options);
        this.path = resolve(path);
    }
    async exchange(work) {
        await mkdir(dirname(this.path), { recursive: true });
        const lock = `${this.path}.lock`;
        await locked(lock);
        try {
            const stored = await content(this.path);
            const [book, result] = work(stored === undefined ? undefined : JSON.parse(stored));
            await replaced(this.path, JSON.stringify(book));
            return result;
        }
        finally {
            await unlink(lock);
        }
    }
}
async function locked(lock) {
    const mine = `${process.pid}@${hostname()}`;
    const end = Date.now() + 1000 * PATIENCE;
    while (!(await created(lock, mine))) {
        if (Date.now() > end)
            throw new BudgetError("another process holds the ledger's lock file, so nothing was charged; if none runs, delete that file");
        await cleared(lock, mine);
        await new Promise((done) => setTimeout(done, PAUSE));
    }
}
async function cleared(lock, mine) {
    if (!gone(await content(lock)) || !(await created(`${lock}.break`, mine)))
        return;
    try {
        if (gone(await content(lock)))
            await unlink(lock);
    }
    finally {
        await unlink(`${lock}.break`);
    }
}
function gone(holder) {
    const [process_, host] = (holder ?? "").split("@");
    if (!process_ || host !== hostname())
        return false;
    try {
        process.kill(+process_, 0);
        return false;
    }
    catch (error) {
        return code(error) === "ESRCH";
    }
}
async function created(path, text) {
    if ((await content(path)) !== undefined)
        return false;
    const draft = `${path}.${crypto.randomUUID()}`;
    await writeFile(draft, text, { mode: 0o600 });
    try {
        await link(draft, path);
        return true;
    }
    catch (error) {
        if (code(error) === "EEXIST")
            return false;
        throw error;
    }
    finally {
        await unlink(draft);
    }
}
async function replaced(path, text) {
    const file = await open(`${path}.new`, "w", 0o600);
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(`${path}.new`, path);
    if (process.platform === "win32")
        return;
    const folder = await open(dirname(path), "r");
    await folder.sync().finally(() => folder.close());
}
async function content(path) {
    try {
        return await readFile(path, "utf8");
    }
    catch (error) {
        if (code(error) === "ENOENT")
            return undefined;
        throw error;
    }
}
function code(error) {
    return error.code;
}
