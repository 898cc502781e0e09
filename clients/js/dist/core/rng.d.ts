export type Halves = readonly [high: number, low: number];
export declare function halves(threshold: bigint): Halves;
export declare abstract class Random {
    abstract bytes(count: number): Uint8Array;
    word(): number;
    bernoulli([top, bottom]: Halves): boolean;
    integer(limit: number): number;
    attempt(limit: number): number;
    wide(limit: bigint): bigint;
    attemptWide(limit: bigint): bigint;
}
export declare class SystemRandom extends Random {
    #private;
    constructor();
    word(): number;
    bytes(count: number): Uint8Array;
}
export declare function multiplyHigh(a: number, b: number): number;
