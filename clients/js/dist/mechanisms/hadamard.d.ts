export declare const hadamard: import("./base.js").Kind;
