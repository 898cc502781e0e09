import type { SpendingWindow } from "../tasks/budget.js";
import type { Notice } from "../tasks/notice.js";
import type { Round } from "../tasks/round.js";
import type { Ledger } from "./ledger.js";
export interface WindowFacts extends SpendingWindow {
    readonly spent: number;
    readonly used: number;
}
export interface DeviceFacts {
    readonly spent: number;
    readonly cap: number;
    readonly windows: readonly WindowFacts[];
    readonly collectors?: {
        readonly epsilon: number;
        readonly delta: number;
    } | undefined;
}
export declare function explainFor(ledger: Ledger, notice: Notice, round: Round, language: string): Promise<string>;
export declare function spending(ledger: Ledger): Promise<DeviceFacts>;
