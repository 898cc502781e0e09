import type { Blanket } from "../accounting/amplification.js";
import type { Json } from "../wire/codec.js";
import type { Fields } from "../wire/fields.js";
import type { Notice } from "./notice.js";
import type { Ask } from "./question.js";
export interface Hop {
    readonly url: string;
    readonly key: string;
}
declare const SHAPE: {
    hops: import("../wire/fields.js").Read<Fields<{
        url: import("../wire/fields.js").Read<string>;
        key: import("../wire/fields.js").Read<string>;
    }>[]>;
    key: import("../wire/fields.js").Read<string>;
    users: import("../wire/fields.js").Read<number>;
    fakes: import("../wire/fields.js").Read<number>;
    central: import("../wire/fields.js").Read<string>;
    against_users: import("../wire/fields.js").Read<string>;
    delta: import("../wire/fields.js").Read<string>;
};
export declare function readShuffle(document: Json): Shuffle;
export declare class Shuffle {
    #private;
    readonly hops: readonly Hop[];
    readonly key: string;
    readonly users: number;
    readonly fakes: number;
    readonly central: string;
    readonly againstUsers: string;
    readonly delta: string;
    constructor(fields: Fields<typeof SHAPE>);
    get signingKeys(): Uint8Array[];
    check({ distinct, declares, collection, rounds, epsilon }: Notice, ask: Ask): void;
    conditional(epsilon: string): {
        epsilon: string;
        delta: string;
    } | undefined;
    meaning({ collection }: Notice): string;
    refuseAbove(central: number, name: string): void;
    isWorseThan(before: string, notice: Notice): boolean;
}
export declare function accountedBlankets(blanket: Blanket): Blanket[];
export declare function blanketOf(ask: Ask): Blanket;
export {};
