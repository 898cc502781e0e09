export declare const oue: import("../mechanism.js").Kind;
export declare const the: import("../mechanism.js").Kind;
export declare const sue: import("../mechanism.js").Kind;
export declare function bits(size: number, bit: (place: number) => boolean): Uint8Array;
