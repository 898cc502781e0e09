import type { Document, Json } from "./codec.js";
export type Whole = number | bigint;
export type Read<T> = (value: Json) => T;
export type Shape = Record<string, Read<any>>;
export type Fields<S extends Shape> = {
    [K in keyof S]: ReturnType<S[K]>;
};
export declare function readFields<S extends Shape>(document: Json, kind: string, shape: S, optional?: string[]): Fields<S>;
export declare function kindOf(document: Json): string;
export declare function lengthOf(document: Json, field: string): number;
export declare const flag: Read<boolean>;
export declare const text: Read<string>;
export declare const small: Read<number>;
export declare const whole: Read<Whole>;
export declare const threshold: Read<bigint>;
export declare const real: Read<string>;
export declare const list: <T>(read: Read<T>) => Read<T[]>;
export declare const object: Read<Document>;
