import type { Json } from "../wire/codec.js";
export interface Collection {
    readonly quota: number;
    readonly seconds: number;
    readonly grace: number;
    readonly minimum: number;
    readonly crowd: number;
    readonly retention: number;
    readonly enrolment: boolean;
    readonly sandbox: boolean;
    readonly issuer?: string;
    readonly defence?: string;
}
export declare function readCollection(document: Json): Collection;
