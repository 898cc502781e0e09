export declare const TOKEN_BYTES: number;
export interface IssuerPublicKey {
    readonly data: Uint8Array;
    readonly modulus: bigint;
}
export interface PendingToken {
    readonly key: IssuerPublicKey;
    readonly digest: Uint8Array;
    readonly nonce: Uint8Array;
    readonly salt: Uint8Array;
    readonly factor: Uint8Array;
}
export interface Token {
    readonly nonce: Uint8Array;
    readonly signature: Uint8Array;
}
export declare function readIssuerKey(data: Uint8Array): IssuerPublicKey;
export declare function blind(key: IssuerPublicKey, digest: Uint8Array): PendingToken;
export declare function blindedBytes(pending: PendingToken): Promise<Uint8Array>;
export declare function finalize(pending: PendingToken, blindSignature: Uint8Array): Promise<Token>;
export declare function verify({ nonce, signature }: Token, key: IssuerPublicKey, digest: Uint8Array): Promise<void>;
export declare function tokenBytes({ nonce, signature }: Token): Uint8Array;
export declare function readToken(data: Uint8Array): Token;
export declare function seedDraw({ signature }: Token, digest: Uint8Array, slot: number): bigint;
export declare function coinBytesOf({ signature }: Token, digest: Uint8Array): Uint8Array;
export declare function challengeDigest(digest: Uint8Array): Uint8Array;
