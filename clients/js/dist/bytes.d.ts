export declare function joined(...parts: Uint8Array[]): Uint8Array;
export declare function little(number: number, width: number): Uint8Array;
export declare function unsigned(size: number): number;
export declare function utf8(text: string): Uint8Array;
export declare function hex(bytes: Uint8Array): string;
export declare function unhex(text: string): Uint8Array;
