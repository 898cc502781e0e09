export declare function sha256(...parts: Uint8Array[]): Uint8Array;
export declare function hmac(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array;
export declare function hmacWith(key: Uint8Array): (...parts: Uint8Array[]) => Uint8Array;
