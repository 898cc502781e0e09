export declare const affine: import("../mechanism.js").Kind;
export declare const affine_prefix: import("../mechanism.js").Kind;
