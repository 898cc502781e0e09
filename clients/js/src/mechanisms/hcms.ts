// Hadamard count-mean sketch: one randomised bit of the Hadamard transform of a hash of the value.

import { little, unsigned } from "../bytes.js";
import { need } from "../errors.js";
import { small, threshold } from "../wire/fields.js";
import { affineHash, mix } from "../maths/hashing.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
import { responseRatio } from "./grr.js";

const PRIME = 2n ** 31n - 1n;
const SHAPE = { rows: small, columns: small, keep: threshold };

export const hcms = kind("hcms", [2, 2 ** 20], SHAPE, ({ rows, columns, keep }) => {
  need(rows >= 1 && rows <= 1024, "a sketch has from 1 to 1,024 rows");
  const power = columns >= 2 && columns <= 65536 && (columns & (columns - 1)) === 0;
  need(power, "the columns of a sketch are a power of two from 2 to 65,536");
  const held = halves(keep);
  const width = unsigned(2 * rows * columns);
  return {
    ratio: responseRatio(keep, 2),
    width,
    permanent(index: number, random) {
      const row = random.integer(rows);
      const coordinate = random.integer(columns);
      const lie = +!random.bernoulli(held);
      const odd = affineHash([Uint32Array.of(bucket(row, index, columns))], Uint32Array.of(coordinate));
      return little((row * columns + coordinate) * 2 + (odd ^ lie), width);
    },
  };
});

/** Returns the bucket of a value in a row: a public polynomial of degree 2 modulo 2^31 - 1. */
function bucket(row: number, value: number, columns: number): number {
  const [square, slope, shift] = [0, 1, 2].map((place) => BigInt(mix(3 * row + place)) % PRIME) as [
    bigint,
    bigint,
    bigint,
  ];
  const held = BigInt(value);
  const hash = ((square || 1n) * held * held + slope * held + shift) % PRIME;
  return Number(hash % BigInt(columns));
}
