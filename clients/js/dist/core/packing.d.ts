export declare function unsignedWidth(size: number): number;
export declare function packBits(size: number, bit: (position: number) => boolean): Uint8Array;
