export declare function concatenate(...parts: Uint8Array[]): Uint8Array;
export declare function littleEndian(number: number, width: number): Uint8Array;
export declare function utf8(text: string): Uint8Array;
export declare function hex(bytes: Uint8Array): string;
export declare function unhex(text: string): Uint8Array;
export declare function base64url(bytes: Uint8Array): string;
