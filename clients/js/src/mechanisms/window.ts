// What mechanisms for numbers share: every input owns a window of neighbouring cells, and a report
// is a cell that lies in the window with probability `keep`.  Duchi's mechanism, Piecewise and
// Square Wave differ in the number of cells and the width of the window.

import { littleEndian } from "../bytes.js";
import { unsignedWidth } from "../core/packing.js";
import type { Rng } from "../core/rng.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import type { Ratio } from "../maths/exact.js";
import { UNIT } from "../maths/exact.js";
import type { Randomizer } from "./base.js";

export const POINTS = [2, 2 ** 24 + 1] as const;

export interface WindowSettings {
  readonly size: number;
  readonly cells: number;
  readonly window: number;
  readonly keep: bigint;
}

export interface WindowMechanism {
  readonly worstRatio: Ratio;
  drawCell(index: number, rng: Rng): number;
}

export function slidingWindow({ size, cells, window, keep }: WindowSettings): WindowMechanism {
  need(cells >= 2 && cells <= 65536, "`cells` must be from 2 to 65536");
  need(window > 0 && window < cells, "`window` must be at least 1 and below `cells`");
  const travel = cells - window; // how far the window moves, and how many cells lie outside it
  const keepWords = thresholdWords(keep);
  return {
    // The first cell lies in the window of the first index and outside that of the last.
    worstRatio: [keep * BigInt(travel), (UNIT - keep) * BigInt(window)],
    drawCell(index, rng) {
      const rest = (index * travel) % (size - 1);
      let start = (index * travel - rest) / (size - 1);
      // The window starts one cell later with the chance that removes the bias of rounding.
      if (travel % (size - 1) && rng.integer(size - 1) < rest) start += 1;
      const isInside = rng.bernoulli(keepWords);
      const inside = start + integerBelow(window, rng);
      const outside = integerBelow(travel, rng);
      if (isInside) return inside;
      return outside >= start ? outside + window : outside;
    },
  };
}

/** Returns the mechanism that reports the drawn cell. */
export function windowMechanism(settings: WindowSettings): Randomizer {
  const { worstRatio, drawCell } = slidingWindow(settings);
  const width = unsignedWidth(settings.cells);
  return {
    worstRatio,
    width,
    permanent: (index: number, rng) => littleEndian(drawCell(index, rng), width),
  };
}

/** Returns an integer below the limit; a limit of 1 takes no word. */
function integerBelow(limit: number, rng: Rng): number {
  return limit > 1 ? rng.integer(limit) : 0;
}
