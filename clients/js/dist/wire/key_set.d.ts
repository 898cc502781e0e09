export interface KeySet {
    readonly digest: Uint8Array;
    readonly round: number;
    readonly roundHash: Uint8Array;
    readonly publicKeys: readonly Uint8Array[];
}
export declare function keySetBytes(keySet: KeySet, hop: number): Uint8Array;
export declare function verifyKeySet(keySet: KeySet, hop: number, signature: Uint8Array, verifyingKey: Uint8Array): Promise<void>;
export declare function verifyAll(keySet: KeySet, signatures: readonly Uint8Array[], verifyingKeys: readonly Uint8Array[]): Promise<void>;
