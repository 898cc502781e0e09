import type { Choice, Round } from "../tasks/notice.js";
type Weighed = Pick<Choice, "members" | "weights">;
export declare function enrolled(token: string, digest: string): Uint8Array;
export declare function place(kept: Uint8Array, digest: string): bigint;
export declare function choiceCoin(kept: Uint8Array, round: number, slot: number): bigint;
export declare function asks(round: Pick<Round, "low" | "high">, coin: bigint): boolean;
export declare function pick(choice: Weighed, coin: bigint): number;
export declare function total({ members, weights }: Weighed): number;
export {};
