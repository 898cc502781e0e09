export type Json = null | boolean | number | string | Json[] | Content;
export interface Content {
    [key: string]: Json;
}
export declare function parse(text: string): Content;
export declare function isContent(value: unknown): value is Content;
export declare function canonical(content: Json): string;
export declare function digestBytes(content: Content): Uint8Array;
export declare function digest(content: Content): string;
