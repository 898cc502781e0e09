export declare const bloom: import("./base.js").Kind;
