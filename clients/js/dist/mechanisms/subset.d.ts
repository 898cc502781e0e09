export declare const subset: import("./base.js").Kind;
