export declare const channels: import("../mechanism.js").Kind;
