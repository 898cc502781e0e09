import { Random } from "./rng.js";
export declare class KeyedRandom extends Random {
    #private;
    readonly secret: Uint8Array;
    readonly context: Uint8Array;
    constructor(secret: Uint8Array, context: Uint8Array);
    bytes(count: number): Uint8Array;
}
