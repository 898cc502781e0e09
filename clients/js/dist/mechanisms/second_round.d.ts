import type { Rng } from "../core/rng.js";
export interface SecondRound {
    chance(first: bigint): number;
    sent(row: Uint8Array, bits: number, rng: Rng): Uint8Array;
}
export declare function secondRound(keep?: bigint, flip?: bigint): SecondRound;
