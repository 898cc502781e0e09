// The hybrid mechanism: a public coin sends every person to Piecewise or to Duchi's mechanism.
// Both are drawn for everybody, so the coin decides only which report is sent.

import { littleEndian } from "../bytes.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { stated } from "../maths/exact.js";
import { threshold } from "../wire/fields.js";
import { checkRatio, mechanismReader } from "./base.js";
import { SHAPE as PIECEWISE } from "./piecewise.js";
import { POINTS, slidingWindow } from "./window.js";

// Up to this epsilon Duchi's mechanism has the smaller worst-case variance.
const DUCHI_IS_BEST = stated("0.6093524930273095317");
const SHAPE = { ...PIECEWISE, alpha: threshold, sign: threshold };

export const read = mechanismReader("hybrid", POINTS, SHAPE, (settings) => {
  const { epsilon, size, alpha, sign } = settings;
  need(
    alpha > 0n || stated(epsilon) <= DUCHI_IS_BEST,
    "`alpha` may be 0 only where that is the best",
  );
  const duchi = slidingWindow({ size, cells: 2, window: 1, keep: sign });
  const piecewise = slidingWindow(settings);
  for (const part of [duchi, piecewise]) checkRatio(part.worstRatio, epsilon);
  const [duchiTop, duchiBottom] = duchi.worstRatio;
  const [piecewiseTop, piecewiseBottom] = piecewise.worstRatio;
  const piecewiseIsWorse = piecewiseTop * duchiBottom > duchiTop * piecewiseBottom;
  const coin = thresholdWords(alpha);
  return {
    worstRatio: alpha && piecewiseIsWorse ? piecewise.worstRatio : duchi.worstRatio,
    width: 3,
    permanent(index: number, rng) {
      const usePiecewise = rng.bernoulli(coin);
      const duchiCell = duchi.drawCell(index, rng);
      const piecewiseCell = piecewise.drawCell(index, rng);
      const cell = usePiecewise ? piecewiseCell : duchiCell;
      return Uint8Array.of(+usePiecewise, ...littleEndian(cell, 2));
    },
  };
});
