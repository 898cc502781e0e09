export declare const product: import("./base.js").Kind;
