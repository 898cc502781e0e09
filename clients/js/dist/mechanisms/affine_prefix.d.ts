export declare const read: (document: import("../wire/codec.js").Json) => import("./base.js").Mechanism;
