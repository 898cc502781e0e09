import type { LedgerFile } from "./ledger_file.js";
export interface Posting {
    readonly url: string;
    readonly name: string;
    readonly task: string;
    readonly round: number;
    readonly message: string;
    readonly token?: string;
    readonly origin?: string;
    readonly fingerprint?: string;
}
export interface Report extends Posting {
    posted: number;
    due: number;
    sending: boolean;
    attempts: number;
    reason: string;
}
export interface RefusedReport {
    readonly name: string;
    readonly task: string;
    readonly round: number;
    readonly code: string;
}
export interface Failure {
    readonly reason: string;
    readonly unavailable: boolean;
    readonly wait: number;
}
export type Receipt = "sent" | {
    refused: string;
} | Failure;
export declare function refuseFull(file: LedgerFile, url: string): void;
export declare function post(file: LedgerFile, posting: Posting, now: number, delay: number): void;
export declare function dueReports(file: LedgerFile, url: string, now: number, force: boolean): Report[];
export declare function waitingReports(file: LedgerFile, url: string): Report[];
export declare function claim(file: LedgerFile, { message }: Report, now: number): Report | undefined;
export declare function settle(file: LedgerFile, { message }: Report, receipt: Receipt, now: number): "sent" | "refused" | "waiting";
export declare function secondsToNext(file: LedgerFile, url: string, now: number): number | undefined;
