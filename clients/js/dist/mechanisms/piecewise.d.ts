export declare const SHAPE: {
    cells: import("../wire/fields.js").Read<number>;
    window: import("../wire/fields.js").Read<number>;
    keep: import("../wire/fields.js").Read<bigint>;
};
export declare const read: (document: import("../wire/codec.js").Json) => import("./base.js").Mechanism;
