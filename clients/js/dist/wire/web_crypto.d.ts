export type OwnBytes = Uint8Array<ArrayBuffer>;
export declare function subtle(): SubtleCrypto;
export declare function own(bytes: Uint8Array): OwnBytes;
