export declare const hcms: import("./base.js").Kind;
