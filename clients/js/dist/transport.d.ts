import type { Parcel } from "./book.js";
import type { Content } from "./canonical.js";
import type { Outcome } from "./queue.js";
export interface Published {
    readonly text: string;
    readonly tag: string | undefined;
}
export declare function fetchTask(url: string, name: string): Promise<Published>;
export declare function fetchRound(url: string, name: string): Promise<Content>;
export declare function post({ url, name, report, token }: Parcel): Promise<Outcome>;
