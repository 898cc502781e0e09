export declare const hybrid: import("../mechanism.js").Kind;
