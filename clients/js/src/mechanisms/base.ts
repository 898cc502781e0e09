// The contract of every randomiser: settings that are checked when read, and bytes that may leave the device.

import type { Json } from "../wire/codec.js";
import { DomainError, need } from "../errors.js";
import { checkEpsilon, within } from "../maths/exact.js";
import type { Ratio } from "../maths/exact.js";
import type { Fields, Shape, Whole } from "../wire/fields.js";
import { fields, real, whole } from "../wire/fields.js";
import type { Random } from "../core/rng.js";

/** What is particular to one kind. */
export interface Randomizer {
  /** The largest ratio of the chances of one report under two values. */
  readonly ratio: Ratio;
  /** The bytes of one packed report. */
  readonly width: number;
  /** The widths of the groups of bits that are permuted each by itself, where there are such. */
  readonly groups?: readonly number[];
  /** What one report reveals to somebody who sees no other, where that is less than epsilon; for reading only. */
  readonly once?: number;
  /** Returns the packed report that a device makes once, or remembers; draws the same words whatever the index. */
  permanent(index: any, random: Random): Uint8Array;
  /** Returns what is sent of a remembered report; most kinds send it as it is. */
  instantaneous?(packed: Uint8Array, random: Random): Uint8Array;
}

export interface Mechanism extends Randomizer {
  readonly kind: string;
  readonly epsilon: string;
  readonly size: Whole;
  instantaneous(packed: Uint8Array, random: Random): Uint8Array;
}

export type Kind = (content: Json) => Mechanism;

/** Returns the reader of one kind: its own fields beside epsilon and size, and what follows from them. */
export function kind<S extends Shape>(
  name: string,
  sizes: readonly [smallest: number, largest: Whole],
  shape: S,
  make: (settings: Fields<S> & { epsilon: string; size: number }) => Randomizer,
): Kind {
  return (content) => {
    const settings = fields(content, name, { epsilon: real, size: whole, ...shape }) as any;
    const { epsilon, size } = settings;
    checkEpsilon(epsilon);
    need(size >= sizes[0] && size <= sizes[1], `this mechanism serves from ${sizes[0]} to ${sizes[1]} values`);
    const made = make(settings);
    checkRatio(made.ratio, epsilon);
    return {
      instantaneous: (packed) => packed,
      ...made,
      kind: name,
      epsilon,
      size,
      permanent(index: Whole, random) {
        if (!(index >= 0 && index < size)) throw new DomainError("an index must lie in the mechanism's domain");
        return made.permanent(index, random);
      },
    };
  };
}

/** Refuses thresholds that prefer lies, tell nothing, or spend more than epsilon. */
export function checkRatio(ratio: Ratio, epsilon: string): void {
  const [top, bottom] = ratio;
  need(
    top > bottom && bottom > 0n && within(ratio, epsilon),
    "these thresholds reveal nothing, or spend more than the stated epsilon",
  );
}
