export interface SpendingWindow {
    readonly seconds: number;
    readonly epsilon: number;
    readonly reports: number;
}
export interface Spend {
    readonly task: string;
    readonly name: string;
    readonly epsilon: string;
    readonly round: number;
    readonly longitudinal: boolean;
    readonly conditional?: Conditional | undefined;
}
export interface Conditional {
    readonly epsilon: string;
    readonly delta: string;
}
export interface Charge {
    readonly task: string;
    readonly name: string;
    readonly epsilon: string;
    readonly time: number;
    readonly conditional?: Conditional;
}
export interface Budget {
    cap: string;
    windows: SpendingWindow[];
    charges: Charge[];
}
export declare function total(charges: readonly Charge[]): bigint;
export declare function charge(budget: Budget, spend: Spend, now: number): void;
export declare function currentTime({ charges }: Budget, now: number): number;
export declare function recentCharges(charges: readonly Charge[], window: SpendingWindow, time: number): Charge[];
