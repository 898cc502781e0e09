import type { Whole } from "./fields.js";
import type { Random } from "./random.js";
export interface Domain {
    readonly size: Whole;
    readonly ordered?: boolean;
    readonly attributes?: readonly Domain[];
    readonly bits?: number;
    readonly items?: Whole;
    index(value: unknown): Whole | Whole[];
    readonly find?: ((value: unknown) => Whole | undefined) | undefined;
    anything?(random: Random): Whole | Whole[];
}
export declare function anyIndex(domain: Domain, random: Random): Whole | Whole[];
export declare function narrow(number: bigint): Whole;
export declare function refuse(rule: string): never;
