import type { Rng } from "../core/rng.js";
import type { Whole } from "../wire/fields.js";
import type { ValueFacts } from "../wire/statement.js";
export interface PersonTables {
    readonly tables: readonly (Whole[] | Whole[][])[];
    readonly public?: string | undefined;
}
export type Index = Whole | Whole[] | Whole[][] | PersonTables;
export interface Table {
    readonly name: string;
    readonly attributes: readonly Domain[];
    readonly most: number;
}
export interface Domain {
    readonly facts: ValueFacts;
    readonly size: Whole;
    readonly attributes?: readonly Domain[];
    readonly names?: readonly string[];
    readonly labels?: readonly string[];
    readonly records?: Domain;
    readonly most?: number;
    readonly tables?: readonly Table[];
    readonly publicNames?: readonly string[];
    readonly publicBytes?: number;
    readonly bits?: number;
    readonly items?: Whole;
    index(value: unknown): Index;
    readonly find?: ((value: unknown) => Whole | undefined) | undefined;
    publicJson?(value: unknown): string;
    valueAt?(index: Whole): unknown;
    randomIndex?(rng: Rng): Index;
    withPublicPart?(index: Index, value: unknown): Index;
}
export declare function randomIndex(domain: Domain, rng: Rng): Index;
export declare function randomBelow(limit: Whole, rng: Rng): Whole;
export declare function narrow(number: bigint): Whole;
export declare function refuse(rule: string): never;
