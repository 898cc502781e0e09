import { BudgetError } from "../errors.js";
import type { Budget, Spend, SpendingWindow } from "../tasks/budget.js";
import type { KnownMeaning } from "./accepts.js";
import type { RefusedReport, Report } from "./outbox.js";
import type { PermanentResponse } from "./permanent.js";
export declare const MESSAGE_DAYS = 30;
export interface KeptMessage {
    bytes: string;
    acknowledged?: number;
}
export interface TaskEntry {
    coin?: string;
    secret?: string;
    pending?: string;
    token?: string;
    messages: Record<string, KeptMessage>;
    responses: Record<string, PermanentResponse[]>;
}
export interface LedgerFile extends Budget {
    version: number;
    tasks: Record<string, TaskEntry>;
    optedOut: string[];
    outbox: Report[];
    refused: RefusedReport[];
    meanings: KnownMeaning[];
}
export interface Limits {
    cap?: number;
    windows?: SpendingWindow[];
}
export declare function goneError(): BudgetError;
export declare function openLedgerFile(stored: LedgerFile | undefined, limits: Limits): LedgerFile;
export declare function answerOnce(file: LedgerFile, spend: Spend, now: number, make: () => Uint8Array): Uint8Array;
export declare function refuseAgain(file: LedgerFile, { task, round, longitudinal }: Pick<Spend, "task" | "round" | "longitudinal">): void;
export declare function acknowledge(file: LedgerFile, task: string, round: number, now: number): void;
export declare function eraseOldMessages({ tasks }: LedgerFile, now: number): void;
export declare function taskEntry(file: LedgerFile, task: string): TaskEntry;
export declare function keepBytes(entry: TaskEntry, name: "coin" | "secret", bytes: Uint8Array): Uint8Array;
export declare function optOut(file: LedgerFile, task: string): void;
