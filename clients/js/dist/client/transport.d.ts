import type { Parcel } from "./ledger_file.js";
import type { Content } from "../wire/codec.js";
import type { Outcome } from "./outbox.js";
export interface Published {
    readonly text: string;
    readonly tag: string | undefined;
}
export declare function fetchTask(url: string, name: string): Promise<Published>;
export declare function fetchRound(url: string, name: string): Promise<Content>;
export declare function post({ url, name, report, token }: Parcel): Promise<Outcome>;
