export declare const bloom: import("../mechanism.js").Kind;
