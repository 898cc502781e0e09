// Node: the ledger is a JSON file beside a lock file, replaced whole and on the disk before anything else happens.

import { link, mkdir, open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";

import type { Book } from "./client/ledger_file.js";
import { BudgetError } from "./errors.js";
import type { Options } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";

export * from "./index.js";
export { Device } from "./client/device.js";
export type { DeviceOptions, Flushed, Request } from "./client/device.js";

const PATIENCE = 30; // seconds
const PAUSE = 5; // milliseconds

export class FileLedger extends Ledger {
  readonly path: string;

  constructor(path: string, options: Options = {}) {
    super(options);
    this.path = resolve(path);
  }

  protected async exchange<T>(work: (stored: Book | undefined) => [Book, T]): Promise<T> {
    await mkdir(dirname(this.path), { recursive: true });
    const lock = `${this.path}.lock`;
    await locked(lock);
    try {
      const stored = await content(this.path);
      const [book, result] = work(stored === undefined ? undefined : (JSON.parse(stored) as Book));
      await replaced(this.path, JSON.stringify(book));
      return result;
    } finally {
      await unlink(lock);
    }
  }
}

/** Waits for the lock file to be this process's own. */
async function locked(lock: string): Promise<void> {
  const mine = `${process.pid}@${hostname()}`;
  const end = Date.now() + 1000 * PATIENCE;
  while (!(await created(lock, mine))) {
    if (Date.now() > end)
      throw new BudgetError(
        "another process holds the ledger's lock file, so nothing was charged; if none runs, delete that file",
      );
    await cleared(lock, mine);
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}

/** Removes the lock of a process of this machine that is gone; two that try do so one after the other. */
async function cleared(lock: string, mine: string): Promise<void> {
  if (!gone(await content(lock)) || !(await created(`${lock}.break`, mine))) return;
  try {
    if (gone(await content(lock))) await unlink(lock);
  } finally {
    await unlink(`${lock}.break`);
  }
}

function gone(holder: string | undefined): boolean {
  const [process_, host] = (holder ?? "").split("@");
  if (!process_ || host !== hostname()) return false;
  try {
    process.kill(+process_, 0);
    return false;
  } catch (error) {
    return code(error) === "ESRCH";
  }
}

/** Makes a file that was not there, whole at once: a crash leaves no lock without a holder. */
async function created(path: string, text: string): Promise<boolean> {
  if ((await content(path)) !== undefined) return false;
  const draft = `${path}.${crypto.randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (code(error) === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}

async function replaced(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, "w", 0o600);
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
  if (process.platform === "win32") return; // folders cannot be opened there
  const folder = await open(dirname(path), "r"); // the new name is on the disk, too
  await folder.sync().finally(() => folder.close());
}

async function content(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (code(error) === "ENOENT") return undefined;
    throw error;
  }
}

function code(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
