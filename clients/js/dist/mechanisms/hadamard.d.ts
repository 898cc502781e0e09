export declare const hadamard: import("../mechanism.js").Kind;
