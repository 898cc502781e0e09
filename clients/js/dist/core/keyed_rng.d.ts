import { Rng } from "./rng.js";
export declare class KeyedRng extends Rng {
    #private;
    readonly secret: Uint8Array;
    readonly context: Uint8Array;
    constructor(secret: Uint8Array, context: Uint8Array);
    word(): number;
    bytes(count: number): Uint8Array;
}
