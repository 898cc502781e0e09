export declare const hybrid: import("./base.js").Kind;
