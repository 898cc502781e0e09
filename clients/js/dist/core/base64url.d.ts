export declare function fromBase64url(name: string, text: unknown, length: number): Uint8Array;
