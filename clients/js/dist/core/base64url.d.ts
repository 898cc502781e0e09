export declare function fromBase64url(name: string, text: unknown, length: number): Uint8Array;
export declare function answeredBytes(name: string, content: unknown, length: number): Uint8Array;
