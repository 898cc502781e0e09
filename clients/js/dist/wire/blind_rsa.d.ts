export declare const SALT_BYTES = 48;
export declare function numberOf(bytes: Uint8Array): bigint;
export declare function bytesOf(number: bigint, length: number): Uint8Array;
export declare function encode(message: Uint8Array, salt: Uint8Array, modulusBits: number): Promise<bigint>;
export declare function blind(encoded: bigint, factor: bigint, modulus: bigint, exponent: bigint): bigint;
export declare function unblind(blindSignature: bigint, factor: bigint, modulus: bigint): bigint;
