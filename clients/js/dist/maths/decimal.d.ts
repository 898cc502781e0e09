export declare const SCALE: bigint;
export declare function repr(number: number): string;
export declare function stated(text: string): bigint;
export declare function rounded(exact: bigint): string;
