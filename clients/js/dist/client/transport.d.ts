import type { Document } from "../wire/codec.js";
import type { Posting, Receipt } from "./outbox.js";
export interface PublishedTask {
    readonly text: string;
    readonly etag: string | undefined;
}
export declare function fetchTask(url: string, name: string): Promise<PublishedTask>;
export declare function fetchRound(url: string, name: string): Promise<Document>;
export declare function send({ url, name, message, token }: Posting): Promise<Receipt>;
