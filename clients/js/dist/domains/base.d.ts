import type { Whole } from "../wire/fields.js";
import type { Random } from "../core/rng.js";
export interface Holdings {
    readonly tables: readonly (Whole[] | Whole[][])[];
    readonly public?: string | undefined;
}
export type Index = Whole | Whole[] | Whole[][] | Holdings;
export interface Table {
    readonly attributes: readonly Domain[];
    readonly most: number;
}
export interface Domain {
    readonly size: Whole;
    readonly ordered?: boolean;
    readonly attributes?: readonly Domain[];
    readonly labels?: readonly string[];
    readonly names?: readonly string[];
    readonly records?: Domain;
    readonly most?: number;
    readonly tables?: readonly Table[];
    readonly shown?: readonly string[];
    plain?(value: unknown): string;
    valueAt?(index: Whole): unknown;
    readonly bits?: number;
    readonly items?: Whole;
    index(value: unknown): Index;
    readonly find?: ((value: unknown) => Whole | undefined) | undefined;
    anything?(random: Random): Index;
}
export declare function anyIndex(domain: Domain, random: Random): Index;
export declare function below(limit: Whole, random: Random): Whole;
export declare function narrow(number: bigint): Whole;
export declare function refuse(rule: string): never;
