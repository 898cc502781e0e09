// What a person may hold: values on one side, indices on the other.

import { DomainError } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import type { Random } from "../core/rng.js";

/** What somebody holds in several tables: one record, or a list of them, each as the indices of its columns. */
export interface Holdings {
  readonly tables: readonly (Whole[] | Whole[][])[];
  /** What everybody may see, as JSON. */
  readonly public?: string | undefined;
}

/** One number, one for each attribute or item, one list for each record, or all that somebody holds. */
export type Index = Whole | Whole[] | Whole[][] | Holdings;

/** The columns of one table that are not public, and how many records somebody has at the most; 0 for exactly one. */
export interface Table {
  readonly attributes: readonly Domain[];
  readonly most: number;
}

export interface Domain {
  /** How many values there are. */
  readonly size: Whole;
  /** Whether indices are in the order of numbers. */
  readonly ordered?: boolean;
  readonly attributes?: readonly Domain[];
  /** The labels of categories. */
  readonly labels?: readonly string[];
  /** The names of the attributes. */
  readonly names?: readonly string[];
  /** The records that a list is of, and how many there are at the most. */
  readonly records?: Domain;
  readonly most?: number;
  readonly tables?: readonly Table[];
  /** The columns that are sent as they are. */
  readonly shown?: readonly string[];
  /** Returns a value of a column as JSON, where everybody may see it; refuses what is none. */
  plain?(value: unknown): string;
  /** Returns a value of a column with this index. */
  valueAt?(index: Whole): unknown;
  /** How many bits a value has, where questions may ask for some of them. */
  readonly bits?: number;
  /** How many items there are, where a value is a set of them. */
  readonly items?: Whole;
  /** Returns the index of a value, for records one for each attribute, for sets those of the items, or refuses it. */
  index(value: unknown): Index;
  /** Returns the index of what may be an item of a set, or nothing if it is not listed; refuses another type. */
  readonly find?: ((value: unknown) => Whole | undefined) | undefined;
  /** Returns a random index, where a whole number below the size is none. */
  anything?(random: Random): Index;
}

/** Returns an index that says nothing about anybody: what a rehearsal sends. */
export function anyIndex(domain: Domain, random: Random): Index {
  if (domain.anything) return domain.anything(random);
  if (domain.attributes) return domain.attributes.map((one) => anyIndex(one, random) as Whole);
  return below(domain.size, random);
}

/** Returns a whole number uniform in [0, limit), limit at most 2^63. */
export function below(limit: Whole, random: Random): Whole {
  return limit < 2 ** 32 ? random.integer(Number(limit)) : narrow(random.wide(BigInt(limit)));
}

export function narrow(number: bigint): Whole {
  return number < 1n << 53n ? Number(number) : number;
}

/** Refuses a value by the rule it breaks, never by its name. */
export function refuse(rule: string): never {
  throw new DomainError(`a value must be ${rule}`);
}
