import { little } from "../bytes.js";
import { stated } from "../maths/decimal.js";
import { need } from "../errors.js";
import { threshold } from "../wire/fields.js";
import { checkRatio, kind } from "./base.js";
import { halves } from "../core/rng.js";
import { CELLS, POINTS, sliding } from "./window.js";
const MEETING = stated("0.6093524930273095317");
const SHAPE = { ...CELLS, alpha: threshold, sign: threshold };
export const hybrid = kind("hybrid", POINTS, SHAPE, ({ epsilon, size, cells, window, keep, alpha, sign }) => {
    need(alpha > 0n || stated(epsilon) <= MEETING, "an alpha of 0 stands only where it is the best one");
    const duchi = sliding(size, 2, 1, sign);
    const piecewise = sliding(size, cells, window, keep);
    for (const part of [duchi, piecewise])
        checkRatio(part.ratio, epsilon);
    const [[top, bottom], [high, low]] = [duchi.ratio, piecewise.ratio];
    const coin = halves(alpha);
    return {
        ratio: alpha && high * bottom > top * low ? piecewise.ratio : duchi.ratio,
        width: 3,
        permanent(index, random) {
            const fine = random.bernoulli(coin);
            const [bit, cell] = [duchi.cell(index, random), piecewise.cell(index, random)];
            return Uint8Array.of(+fine, ...little(fine ? cell : bit, 2));
        },
    };
});
