export declare const affine: import("./base.js").Kind;
export declare const affine_prefix: import("./base.js").Kind;
