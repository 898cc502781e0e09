import type { Book, Parcel } from "./ledger_file.js";
export type Outcome = "sent" | {
    refused: string;
} | {
    wait: number;
    away: boolean;
};
export declare function enqueue(book: Book, parcel: Omit<Parcel, "posted" | "due" | "busy" | "attempts">, now: number, delay: number): void;
export declare function due(book: Book, url: string, now: number, force: boolean): Parcel[];
export declare function claim(book: Book, { report }: Parcel, now: number): Parcel | undefined;
export declare function settle(book: Book, { report }: Parcel, outcome: Outcome, now: number): "sent" | "refused" | "waiting";
export declare function next(book: Book, url: string, now: number): number | undefined;
