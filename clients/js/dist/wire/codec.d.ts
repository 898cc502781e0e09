export type Json = null | boolean | number | string | Json[] | Document;
export interface Document {
    [key: string]: Json;
}
export declare function parse(text: string): Document;
export declare function isDocument(value: unknown): value is Document;
export declare function canonical(content: Json): string;
export declare function digestBytes(document: Document): Uint8Array;
export declare function digest(document: Document): string;
