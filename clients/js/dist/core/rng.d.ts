export type ThresholdWords = readonly [high: number, low: number];
export declare function thresholdWords(threshold: bigint): ThresholdWords;
export declare abstract class Rng {
    abstract bytes(count: number): Uint8Array;
    word(): number;
    bernoulli([thresholdHigh, thresholdLow]: ThresholdWords): boolean;
    integer(limit: number): number;
    tryInteger(limit: number): number;
    wideInteger(limit: bigint): bigint;
    tryWideInteger(limit: bigint): bigint;
}
export declare class SystemRng extends Rng {
    #private;
    constructor();
    word(): number;
    bytes(count: number): Uint8Array;
}
export declare function multiplyHigh(a: number, b: number): number;
