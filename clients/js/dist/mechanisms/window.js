import { littleEndian } from "../bytes.js";
import { unsignedWidth } from "../core/packing.js";
import { thresholdWords } from "../core/rng.js";
import { need } from "../errors.js";
import { UNIT } from "../maths/exact.js";
export const POINTS = [2, 2 ** 24 + 1];
export function slidingWindow({ size, cells, window, keep }) {
    need(cells >= 2 && cells <= 65536, "`cells` must be from 2 to 65536");
    need(window > 0 && window < cells, "`window` must be at least 1 and below `cells`");
    const travel = cells - window;
    const keepWords = thresholdWords(keep);
    return {
        worstRatio: [keep * BigInt(travel), (UNIT - keep) * BigInt(window)],
        drawCell(index, rng) {
            const rest = (index * travel) % (size - 1);
            let start = (index * travel - rest) / (size - 1);
            if (travel % (size - 1) && rng.integer(size - 1) < rest)
                start += 1;
            const isInside = rng.bernoulli(keepWords);
            const inside = start + integerBelow(window, rng);
            const outside = integerBelow(travel, rng);
            if (isInside)
                return inside;
            return outside >= start ? outside + window : outside;
        },
    };
}
export function windowMechanism(settings) {
    const { worstRatio, drawCell } = slidingWindow(settings);
    const width = unsignedWidth(settings.cells);
    return {
        worstRatio,
        width,
        permanent: (index, rng) => littleEndian(drawCell(index, rng), width),
    };
}
function integerBelow(limit, rng) {
    return limit > 1 ? rng.integer(limit) : 0;
}
