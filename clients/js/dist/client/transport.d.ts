import type { Notice } from "../tasks/notice.js";
import type { Document, Json } from "../wire/codec.js";
import type { Receipt } from "./outbox.js";
export declare const DEFAULT_TIMEOUT = 30;
export interface Address {
    readonly url: string;
    readonly timeout: number;
}
export interface PublishedTask {
    readonly text: string;
    readonly etag: string | undefined;
}
export declare function fetchTask(address: Address, name: string): Promise<PublishedTask>;
export interface Present {
    readonly state: string;
    readonly round: Json;
}
export declare function fetchRound(address: Address, { name, digest }: Notice): Promise<Present>;
export declare function send(address: Address, path: readonly string[], message: string, token?: string): Promise<Receipt>;
export declare function exchange({ url, timeout }: Address, path: readonly string[], content?: Document): Promise<Document>;
