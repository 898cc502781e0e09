export declare const blh: import("../mechanism.js").Kind;
export declare const olh: import("../mechanism.js").Kind;
export declare const rmp: import("../mechanism.js").Kind;
