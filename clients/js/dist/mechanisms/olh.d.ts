export declare const blh: import("./base.js").Kind;
export declare const olh: import("./base.js").Kind;
export declare const rmp: import("./base.js").Kind;
