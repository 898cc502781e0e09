export declare const UNIT: bigint;
export type Ratio = readonly [top: bigint, bottom: bigint];
export declare const PLACES = 320n;
export declare function exp(epsilon: string): [odds: bigint, power: bigint];
export declare function within([top, bottom]: Ratio, epsilon: string): boolean;
export declare function checkEpsilon(epsilon: string): void;
