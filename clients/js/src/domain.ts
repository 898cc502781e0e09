// What a person may hold: values on one side, indices on the other.

import { DomainError } from "./errors.js";
import type { Whole } from "./fields.js";
import type { Random } from "./random.js";

export interface Domain {
  /** How many values there are. */
  readonly size: Whole;
  /** Whether indices are in the order of numbers. */
  readonly ordered?: boolean;
  readonly attributes?: readonly Domain[];
  /** How many bits a value has, where questions may ask for some of them. */
  readonly bits?: number;
  /** How many items there are, where a value is a set of them. */
  readonly items?: Whole;
  /** Returns the index of a value, for records one for each attribute, for sets those of the items, or refuses it. */
  index(value: unknown): Whole | Whole[];
  /** Returns the index of what may be an item of a set, or nothing if it is not listed; refuses another type. */
  readonly find?: ((value: unknown) => Whole | undefined) | undefined;
  /** Returns a random index, where a whole number below the size is none. */
  anything?(random: Random): Whole | Whole[];
}

/** Returns an index that says nothing about anybody: what a rehearsal sends. */
export function anyIndex(domain: Domain, random: Random): Whole | Whole[] {
  if (domain.anything) return domain.anything(random);
  if (domain.attributes) return domain.attributes.map((one) => anyIndex(one, random) as Whole);
  return domain.size < 2 ** 32 ? random.integer(Number(domain.size)) : narrow(random.wide(BigInt(domain.size)));
}

export function narrow(number: bigint): Whole {
  return number < 1n << 53n ? Number(number) : number;
}

/** Refuses a value by the rule it breaks, never by its name. */
export function refuse(rule: string): never {
  throw new DomainError(`a value must be ${rule}`);
}
