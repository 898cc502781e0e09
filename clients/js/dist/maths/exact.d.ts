export declare const UNIT: bigint;
export declare const PLACES = 320n;
export type Ratio = readonly [numerator: bigint, denominator: bigint];
export declare function shortest(number: number): string;
export declare function stated(text: string): bigint;
export declare function nearest(exact: bigint): string;
export declare function exp(epsilon: string): [odds: bigint, power: bigint];
export declare function isWithin([numerator, denominator]: Ratio, epsilon: string): boolean;
export declare function checkEpsilon(epsilon: string): void;
