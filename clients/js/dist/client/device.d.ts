import type { Notice } from "../tasks/notice.js";
import type { Accepts } from "./accepts.js";
import type { Notify } from "./client.js";
import type { Ledger } from "./ledger.js";
import type { Report } from "./outbox.js";
import type { Route } from "./route.js";
export type Consent = (notice: Notice, text: string) => boolean | Promise<boolean>;
export interface DeviceOptions {
    ledger: Ledger;
    token?: string;
    consent?: Consent;
    delay?: number;
    accepts?: Readonly<Record<string, Accepts>>;
    notify?: Notify;
    witnesses?: readonly string[];
    route?: Route;
    relay?: string;
    language?: string;
    timeout?: number;
}
export declare const DEFAULTS: {
    readonly token: undefined;
    readonly consent: undefined;
    readonly delay: undefined;
    readonly accepts: {};
    readonly notify: undefined;
    readonly witnesses: readonly [];
    readonly route: undefined;
    readonly relay: undefined;
    readonly language: "en";
    readonly timeout: 30;
};
export interface Flushed {
    sent: number;
    refused: number;
    waiting: number;
}
export declare class Device {
    #private;
    readonly url: string;
    readonly ledger: Ledger;
    readonly delay: number | undefined;
    readonly relay: string | undefined;
    readonly language: string;
    constructor(url: string, options: DeviceOptions);
    answer(name: string, value: unknown): Promise<Uint8Array>;
    notice(name: string): Promise<Notice>;
    explain(notice: Notice): Promise<string>;
    agree(notice: Notice): Promise<void>;
    waiting(): Promise<Report[]>;
    flush({ force }?: {
        force?: boolean | undefined;
    }): Promise<Flushed>;
    optOut(): Promise<void>;
    close(): void;
}
