export declare const LAYER_BYTES = 48;
export declare const MAX_HOPS = 8;
export interface SealContext {
    readonly digest: Uint8Array;
    readonly round: number;
    readonly hops: number;
    readonly messageBytes: number;
}
export declare function seal(message: Uint8Array, keys: readonly Uint8Array[], context: SealContext): Promise<Uint8Array>;
export declare function openLayer(sealed: Uint8Array, privateKey: Uint8Array, context: SealContext, hop: number): Promise<Uint8Array>;
export declare function sealedBytes(context: SealContext, hop: number): number;
export declare function layerInfo({ digest, round }: SealContext, hop: number): Uint8Array;
export declare function needBytes(name: string, value: Uint8Array, length: number): void;
export declare function needWhole(name: string, value: number, low: number, high: number): void;
