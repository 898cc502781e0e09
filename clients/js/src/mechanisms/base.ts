// The contract of a mechanism: settings that are checked when they are read, and the packed report
// of an index.

import type { Rng } from "../core/rng.js";
import { DomainError, need } from "../errors.js";
import type { Ratio } from "../maths/exact.js";
import { checkEpsilon, isWithin } from "../maths/exact.js";
import type { Json } from "../wire/codec.js";
import type { Fields, Shape, Whole } from "../wire/fields.js";
import { readFields, real, whole } from "../wire/fields.js";

/** What each kind of mechanism defines. */
export interface Randomizer {
  /** The largest ratio of the chances of one report under two values. */
  readonly worstRatio: Ratio;
  /** The bytes of one packed report. */
  readonly width: number;
  /** The widths of the groups of bits that are permuted separately, if there are such. */
  readonly groups?: readonly number[];
  /** How many draws of one report must be made one after another, if more than one. */
  readonly steps?: number;
  /** What one report reveals to somebody who sees no other, if that is less than epsilon. */
  readonly epsilonOnce?: number;
  /** The probability that a draw from the blanket supports a given value, if that is known. */
  readonly share?: number;
  /** The probability that a blanket draw that supports one value supports another given one. */
  readonly overlap?: number;
  /**
   * Returns the packed report that a device makes once, or remembers.  A kind whose reports carry a
   * hash seed takes it from the `draw`, a number in [0, 2^64), and draws it without one.
   */
  permanent(index: any, rng: Rng, draw?: bigint): Uint8Array;
  /** Returns what is sent of a remembered report; most kinds send it unchanged. */
  instantaneous?(packed: Uint8Array, rng: Rng): Uint8Array;
}

export interface Mechanism extends Randomizer {
  readonly kind: string;
  readonly epsilon: string;
  readonly size: Whole;
  instantaneous(packed: Uint8Array, rng: Rng): Uint8Array;
}

/** The settings that every mechanism has; `size` is a bigint from 2^53 on. */
interface Common {
  readonly epsilon: string;
  readonly size: number;
}

/**
 * Returns the reader of a kind: the sizes it serves, its own fields, how it randomises, and which
 * of the fields may be left out.
 */
export function mechanismReader<S extends Shape>(
  kind: string,
  [smallest, largest]: readonly [smallest: number, largest: Whole],
  shape: S,
  make: (settings: Fields<S> & Common) => Randomizer,
  optional: string[] = [],
): (document: Json) => Mechanism {
  return (document) => {
    const fields = { epsilon: real, size: whole, ...shape };
    const settings: any = readFields(document, kind, fields, optional);
    const { epsilon, size } = settings;
    checkEpsilon(epsilon);
    need(size >= smallest && size <= largest, `\`size\` must be from ${smallest} to ${largest}`);
    const randomizer = make(settings);
    checkRatio(randomizer.worstRatio, epsilon);
    return {
      instantaneous: (packed) => packed,
      ...randomizer,
      kind,
      epsilon,
      size,
      permanent(index: Whole, rng, draw) {
        if (!(index >= 0 && index < size))
          throw new DomainError("an index must be at least 0 and below the mechanism's size");
        return randomizer.permanent(index, rng, draw);
      },
    };
  };
}

/** Refuses thresholds that reveal nothing, and thresholds that spend more than epsilon. */
export function checkRatio(ratio: Ratio, epsilon: string): void {
  const [numerator, denominator] = ratio;
  need(
    numerator > denominator && denominator > 0n,
    "the thresholds must make a report more likely under its value than under another",
  );
  need(isWithin(ratio, epsilon), "the thresholds spend more than the stated `epsilon`");
}
