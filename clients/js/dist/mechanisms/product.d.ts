export declare const product: import("../mechanism.js").Kind;
