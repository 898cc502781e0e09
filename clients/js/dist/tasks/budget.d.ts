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
}
export interface Charge {
    readonly task: string;
    readonly name: string;
    readonly epsilon: string;
    readonly time: number;
}
export interface Budget {
    cap: string;
    windows: SpendingWindow[];
    charges: Charge[];
}
export declare function total(charges: readonly Charge[]): bigint;
export declare function charge(budget: Budget, { task, name, epsilon }: Spend, now: number): void;
export declare function currentTime({ charges }: Budget, now: number): number;
export declare function recentCharges(charges: readonly Charge[], window: SpendingWindow, time: number): Charge[];
