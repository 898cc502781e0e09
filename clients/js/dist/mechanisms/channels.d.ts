export declare const channels: import("./base.js").Kind;
