export declare const hcms: import("../mechanism.js").Kind;
