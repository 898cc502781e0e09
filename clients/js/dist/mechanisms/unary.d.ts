export declare const oue: import("./base.js").Kind;
export declare const the: import("./base.js").Kind;
export declare const sue: import("./base.js").Kind;
export declare function bits(size: number, bit: (place: number) => boolean): Uint8Array;
