export declare const subset: import("../mechanism.js").Kind;
