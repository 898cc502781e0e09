import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { Ledger } from "./ledger.js";
export interface Request {
    readonly notice: Notice;
    readonly round: Round;
    readonly text: string;
}
export interface DeviceOptions {
    ledger: Ledger;
    token?: string;
    consent?: (request: Request) => boolean | Promise<boolean>;
    delay?: number;
    digest?: string;
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
    constructor(url: string, options: DeviceOptions);
    answer(name: string, value: unknown): Promise<void>;
    explain(name: string): Promise<string>;
    flush({ force }?: {
        force?: boolean | undefined;
    }): Promise<Flushed>;
    close(): void;
}
