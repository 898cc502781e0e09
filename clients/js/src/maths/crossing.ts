// Where a falling function crosses zero, seen from the side where it is not positive.
// The twin of maths/crossing.py.

const MAX_STEPS = 200;

/** Returns a point at most `tolerance` above the crossing, where the function is at most 0. */
export function crossing(
  falling: (point: number) => number,
  low: number,
  high: number,
  tolerance: number,
): number {
  let valueLow = falling(low);
  let valueHigh = falling(high);
  let lastMoved = "";
  for (let step = 0; step < MAX_STEPS && high - low > tolerance; step++) {
    let middle = high - (valueHigh * (high - low)) / (valueHigh - valueLow);
    if (step % 3 === 2) middle = (low + high) / 2; // whatever the function, the interval halves
    const margin = Math.min(tolerance / 2, (high - low) / 4);
    middle = Math.min(Math.max(middle, low + margin), high - margin);
    const value = falling(middle);
    if (value <= 0) {
      high = middle;
      valueHigh = Math.min(value, -1e-300);
      if (lastMoved === "high") valueLow /= 2;
      lastMoved = "high";
    } else {
      low = middle;
      valueLow = value;
      if (lastMoved === "low") valueHigh /= 2;
      lastMoved = "low";
    }
  }
  return high;
}
