export declare function enrolledBytes(token: string, digest: string): Uint8Array;
export declare function roundCoin(deviceBytes: Uint8Array, digest: string): bigint;
export declare function choiceCoin(deviceBytes: Uint8Array, round: number, slot: number): bigint;
