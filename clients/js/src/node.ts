// Node: the ledger is a JSON file with a lock file beside it.  Every change replaces the file as a
// whole and is on the disk before anything else happens.  A marker beside the file says that there
// has been a ledger, so that a ledger that was removed or cut does not refill the budget.

import { link, mkdir, open, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";

import type { LedgerOptions } from "./client/ledger.js";
import { Ledger } from "./client/ledger.js";
import type { LedgerFile } from "./client/ledger_file.js";
import { goneError } from "./client/ledger_file.js";
import { BudgetError } from "./errors.js";

export { Device } from "./client/device.js";
export type { Consent, DeviceOptions, Flushed } from "./client/device.js";
export type { Receipt } from "./client/outbox.js";
export type { Route } from "./client/route.js";
export * from "./index.js";
export { LANGUAGES } from "./wire/languages.js";

const LOCK_TIMEOUT = 30; // seconds
const LOCK_PAUSE = 5; // milliseconds
const MARKER_TEXT = "This device has a ledger: without it, nothing is sent.\n";

export class FileLedger extends Ledger {
  readonly path: string;

  constructor(path: string, options: LedgerOptions = {}) {
    super(options);
    this.path = resolve(path);
  }

  /** The file that says that there has been a ledger. */
  get marker(): string {
    return `${this.path}.made`;
  }

  protected async exchange<T>(
    work: (stored: LedgerFile | undefined) => [LedgerFile, T],
  ): Promise<T> {
    await mkdir(dirname(this.path), { recursive: true });
    const lock = `${this.path}.lock`;
    await takeLock(lock);
    try {
      const isMarked = (await readIfExists(this.marker)) !== undefined;
      const [file, result] = work(readLedger(await readIfExists(this.path), isMarked));
      await replaceFile(this.path, JSON.stringify(file));
      if (!isMarked) await replaceFile(this.marker, MARKER_TEXT);
      return result;
    } finally {
      await unlink(lock);
    }
  }
}

/** Returns the ledger in a text; an empty file without a marker is a ledger that was not begun. */
function readLedger(text: string | undefined, isMarked: boolean): LedgerFile | undefined {
  if (!text && !isMarked) return undefined;
  let file: Partial<LedgerFile> = {};
  try {
    file = JSON.parse(text || "{}") as Partial<LedgerFile>;
  } catch (error) {
    if (!isMarked) throw error;
  }
  if (isMarked && file.version === undefined) throw goneError();
  return file as LedgerFile;
}

/** Waits until the lock file is this process's own. */
async function takeLock(lock: string): Promise<void> {
  const holder = `${process.pid}@${hostname()}`;
  const end = Date.now() + 1000 * LOCK_TIMEOUT;
  while (!(await createFile(lock, holder))) {
    if (Date.now() > end)
      throw new BudgetError(
        `another process holds the lock of the ledger; if none runs, delete ${lock}`,
      );
    await removeStaleLock(lock, holder);
    await new Promise((done) => setTimeout(done, LOCK_PAUSE));
  }
}

/** Removes the lock of a process that has ended; a second lock keeps two from doing so at once. */
async function removeStaleLock(lock: string, holder: string): Promise<void> {
  const guard = `${lock}.break`;
  if (!hasEnded(await readIfExists(lock)) || !(await createFile(guard, holder))) return;
  try {
    if (hasEnded(await readIfExists(lock))) await unlink(lock);
  } finally {
    await unlink(guard);
  }
}

/** Returns whether the holder of a lock is a process of this machine that has ended. */
function hasEnded(holder: string | undefined): boolean {
  const [pid, host] = (holder ?? "").split("@");
  if (!pid || host !== hostname()) return false;
  try {
    process.kill(+pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

/** Creates a file with its whole content at once; returns false if it exists. */
async function createFile(path: string, text: string): Promise<boolean> {
  if ((await readIfExists(path)) !== undefined) return false;
  const draft = `${path}.${crypto.randomUUID()}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(draft);
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  const file = await open(draft, "w", 0o600);
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(draft, path);
  if (process.platform === "win32") return; // a folder cannot be opened there
  const folder = await open(dirname(path), "r"); // the new name must be on the disk as well
  await folder.sync().finally(() => folder.close());
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
