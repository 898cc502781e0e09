// The contract of a domain: which values a person may hold, and the index of each.

import type { Rng } from "../core/rng.js";
import { DomainError } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import type { ValueFacts } from "../wire/statement.js";

/** What one person holds: for every table the indices of a record, or of a list of records. */
export interface PersonTables {
  readonly tables: readonly (Whole[] | Whole[][])[];
  /** The public columns as JSON. */
  readonly public?: string | undefined;
}

/** One number; one per attribute or item; one list per record; or the tables of a person. */
export type Index = Whole | Whole[] | Whole[][] | PersonTables;

/** The columns of a table that are not public, and how many records count; 0 for exactly one. */
export interface Table {
  readonly name: string;
  readonly attributes: readonly Domain[];
  readonly most: number;
}

export interface Domain {
  /** The kind and the settings that the statement mentions. */
  readonly facts: ValueFacts;
  /** How many values there are. */
  readonly size: Whole;
  readonly attributes?: readonly Domain[];
  /** The names of the attributes. */
  readonly names?: readonly string[];
  /** The labels of categories. */
  readonly labels?: readonly string[];
  /** What a list holds, and how many of them count. */
  readonly records?: Domain;
  readonly most?: number;
  readonly tables?: readonly Table[];
  /** The names of the columns that are sent in clear, and the most bytes that they take. */
  readonly publicNames?: readonly string[];
  readonly publicBytes?: number;
  /** How many bits a value has, if questions may ask for some of them. */
  readonly bits?: number;
  /** How many items there are, if a value is a set of them. */
  readonly items?: Whole;
  /** Returns the index of a value, or refuses the value. */
  index(value: unknown): Index;
  /** Returns the index of an item of a set; nothing if the domain does not list it. */
  readonly find?: ((value: unknown) => Whole | undefined) | undefined;
  /** Returns a value of a public column as JSON. */
  publicJson?(value: unknown): string;
  /** Returns a value of a column that has this index. */
  valueAt?(index: Whole): unknown;
  /** Returns a random index, if it is not just a whole number below the size. */
  randomIndex?(rng: Rng): Index;
  /**
   * Returns an index with the public part of a value that may lie outside of the domain, or as it
   * is if that part is impossible: what is sent in clear follows from the public columns alone.
   */
  withPublicPart?(index: Index, value: unknown): Index;
}

/** Returns a random index, which says nothing about anybody: what a rehearsal sends. */
export function randomIndex(domain: Domain, rng: Rng): Index {
  if (domain.randomIndex) return domain.randomIndex(rng);
  if (domain.attributes)
    return domain.attributes.map((attribute) => randomIndex(attribute, rng) as Whole);
  return randomBelow(domain.size, rng);
}

/** Returns a whole number uniform in [0, limit); the limit is at most 2^63. */
export function randomBelow(limit: Whole, rng: Rng): Whole {
  return limit < 2 ** 32 ? rng.integer(Number(limit)) : narrow(rng.wideInteger(BigInt(limit)));
}

/** Returns a bigint as a number if a number holds it exactly. */
export function narrow(number: bigint): Whole {
  return number < 1n << 53n ? Number(number) : number;
}

/** Refuses a value; the message states the rule and never the value. */
export function refuse(rule: string): never {
  throw new DomainError(`a value must be ${rule}`);
}
