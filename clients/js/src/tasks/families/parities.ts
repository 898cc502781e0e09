// One question for every Hadamard coefficient that marginals of some order need, none of which is listed.
// In their order: fewer attributes first, sets of attributes as in a dictionary, then masks of bits, the last
// attribute's changing fastest.  With `within` a set of exactly `order` attributes is picked first, and one of its own
// coefficients then: masks may be empty, but not all of them.

import type { Json } from "../../wire/codec.js";
import { need } from "../../errors.js";
import { fields, flag, list, small, whole } from "../../wire/fields.js";
import { readMechanism } from "../../core/registry.js";
import type { Family } from "../notice.js";
import { bitsOf, coefficient } from "../../encodings/parity.js";

const MOST = 20; // binary digits of the number of coefficients

export function parities(content: Json): Family {
  const shape = { mechanism: readMechanism, sizes: list(whole), order: small, within: flag };
  const { mechanism, sizes, order, within } = fields(content, "parities", shape);
  need(mechanism.size === 2, "a coefficient is a matter of odd or even");
  need(
    order >= 1 && order <= sizes.length && sizes.every((size) => size >= 2),
    "marginals are of at least one attribute and at most all, of at least 2 values each",
  );
  need(order <= MOST, `at most 2^${MOST} coefficients are asked about`); // any set of so many attributes has 2^order - 1
  const choices = sizes.map((size) => 2 ** Math.min(bitsOf(size), 53) - +!within);
  const ranks = new Ranks(choices, order, within);
  need(ranks.length <= 2 ** MOST, `at most 2^${MOST} coefficients are asked about`);
  return {
    length: ranks.length,
    at(place) {
      const touched = ranks.at(place);
      const columns = touched.map(([column]) => column);
      const encoding = coefficient({
        columns,
        sizes: columns.map((column) => sizes[column]!),
        masks: touched.map(([, mask]) => mask),
      });
      return { mechanism, encoding, epsilon: mechanism.epsilon, width: mechanism.width };
    },
  };
}

/** The coefficients by number.  Of those too many to count exactly it is only certain that they are too many. */
class Ranks {
  readonly length: number;
  readonly #choices: number[];
  readonly #empty: number;
  readonly #orders: number[];
  /** For every first column and number of columns: the choices of masks of all sets of them, and how many sets. */
  readonly #masks: number[][];
  readonly #sets: number[][];

  constructor(choices: number[], order: number, within: boolean) {
    this.#choices = choices;
    this.#empty = +within; // of the choices of a set of columns, this one touches nothing
    this.#orders = within ? [order] : Array.from({ length: order }, (_, i) => i + 1);
    this.#masks = sums(choices, order);
    this.#sets = sums(Array(choices.length).fill(1), order);
    this.length = this.#orders.reduce((sum, count) => sum + this.#number(1, 0, count), 0);
  }

  /** Returns the columns that a coefficient touches, and the bits of each. */
  at(place: number): (readonly [column: number, mask: number])[] {
    let rest = place;
    let [count] = this.#orders as [number];
    for (let all; rest >= (all = this.#number(1, 0, count)); count++) rest -= all;
    const columns: number[] = [];
    for (let column = 0, before = 1; count; column++) {
      const chosen = before * this.#choices[column]!;
      const here = this.#number(chosen, column + 1, count - 1);
      if (rest >= here) rest -= here;
      else (columns.push(column), (before = chosen), count--);
    }
    return this.#spelt(columns, rest + this.#empty);
  }

  /** Returns how many coefficients have `before` choices in some columns, and then `count` columns from `first` on. */
  #number(before: number, first: number, count: number): number {
    return before * this.#masks[first]![count]! - this.#empty * this.#sets[first]![count]!;
  }

  /** Returns the masks that a number spells, the last column's changing fastest. */
  #spelt(columns: number[], number: number) {
    const masks = [...columns].reverse().map((column) => {
      const choices = this.#choices[column]!;
      const mask = (number % choices) + 1 - this.#empty;
      number = Math.floor(number / choices);
      return [column, mask] as const;
    });
    return masks.reverse().filter(([, mask]) => mask);
  }
}

/** Returns, for every place to start at and every number up to `most`, the sum of the products of so many factors. */
function sums(factors: number[], most: number): number[][] {
  let after = Array.from({ length: most + 1 }, (_, count) => +!count);
  const found = [after];
  for (const factor of [...factors].reverse()) {
    const before = after;
    after = before.map((sum, count) => sum + (count && factor * before[count - 1]!));
    found.push(after);
  }
  return found.reverse();
}
