export type Json = null | boolean | number | string | Json[] | Document;
export interface Document {
    [key: string]: Json;
}
export declare function parse(text: string): Document;
export interface CanonicalDocument {
    readonly document: Document;
    readonly canonicalText: string;
}
export declare function parseCanonical(text: string): CanonicalDocument;
export declare function grouped(count: number): string;
export declare function isDocument(value: unknown): value is Document;
export declare function canonical(content: Json): string;
export declare function fingerprintOf(canonicalText: string): Uint8Array;
export declare function digest(document: Document): string;
