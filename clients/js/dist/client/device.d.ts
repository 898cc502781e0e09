import type { Notice } from "../tasks/notice.js";
import type { Ledger } from "./ledger.js";
export type Consent = (notice: Notice, text: string) => boolean | Promise<boolean>;
export interface DeviceOptions {
    ledger: Ledger;
    token?: string;
    consent?: Consent;
    delay?: number;
    digests?: Readonly<Record<string, string>>;
}
export interface Flushed {
    sent: number;
    refused: number;
    waiting: number;
}
export declare class Device {
    #private;
    readonly url: string;
    readonly ledger: Ledger;
    readonly delay: number;
    constructor(url: string, options: DeviceOptions);
    answer(name: string, value: unknown): Promise<Uint8Array>;
    explain(name: string): Promise<string>;
    flush({ force }?: {
        force?: boolean | undefined;
    }): Promise<Flushed>;
    optOut(): Promise<void>;
    close(): void;
}
