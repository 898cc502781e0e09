import type { Remembered } from "./permanent.js";
export interface Window {
    readonly seconds: number;
    readonly epsilon: number;
    readonly reports: number;
}
export interface Spend {
    readonly task: string;
    readonly name: string;
    readonly epsilon: string;
    readonly round: number;
    readonly lasting: boolean;
}
export interface Charge {
    readonly task: string;
    readonly name: string;
    readonly epsilon: string;
    readonly time: number;
}
export interface Page {
    coin?: string;
    secret?: string;
    messages: Record<string, string>;
    memo: Record<string, Remembered[]>;
}
export interface Parcel {
    readonly url: string;
    readonly name: string;
    readonly task: string;
    readonly round: number;
    readonly report: string;
    readonly token?: string;
    posted: number;
    due: number;
    busy: boolean;
    attempts: number;
}
export interface Refused {
    readonly name: string;
    readonly task: string;
    readonly round: number;
    readonly code: string;
}
export interface Book {
    version: 1;
    cap: string;
    windows: Window[];
    charges: Charge[];
    pages: Record<string, Page>;
    left: string[];
    queue: Parcel[];
    refused: Refused[];
}
export interface Limits {
    cap?: number;
    windows?: Window[];
}
export declare function opened(stored: Book | undefined, { cap, windows }: Limits): Book;
export declare function answered(book: Book, spend: Spend, now: number, make: () => Uint8Array): Uint8Array;
export declare function refuseAgain(book: Book, { task, round, lasting }: Omit<Spend, "name" | "epsilon">): void;
export declare function pageOf(book: Book, task: string): Page;
export declare function kept(page: Page, name: "coin" | "secret", bytes: Uint8Array): Uint8Array;
export declare function total(charges: readonly Charge[]): bigint;
export declare function leave(book: Book, task: string): void;
