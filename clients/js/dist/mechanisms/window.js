import { little, unsigned } from "../bytes.js";
import { need } from "../errors.js";
import { exp, PLACES, UNIT } from "../maths/exact.js";
import { small, threshold } from "../wire/fields.js";
import { kind } from "./base.js";
import { halves } from "../core/rng.js";
export const POINTS = [2, 2 ** 24 + 1];
export const CELLS = { cells: small, window: small, keep: threshold };
export const duchi = kind("duchi", POINTS, { keep: threshold }, ({ size, keep }) => reported(2, sliding(size, 2, 1, keep)));
export const piecewise = kind("piecewise", POINTS, CELLS, ({ size, cells, window, keep }) => reported(cells, sliding(size, cells, window, keep)));
export const square_wave = kind("square_wave", [2, 4096], { keep: threshold, reach: small }, ({ epsilon, size, keep, reach }) => {
    need(reach >= 0 && 2 * reach <= size, "a reach is a whole number of buckets, at most half of them");
    need(reach > 0 || reachless(size, epsilon), "a reach of 0 stands only where it is the best one");
    const cells = size + 2 * reach;
    return reported(cells, sliding(size, cells, 2 * reach + 1, keep));
});
export function sliding(size, cells, window, keep) {
    need(cells >= 2 && cells <= 65536, "cells must be a whole number from 2 to 65536");
    need(window > 0 && window < cells, "a window must be a whole number of cells, at least one and not all of them");
    const travel = cells - window;
    const held = halves(keep);
    return {
        ratio: [keep * BigInt(travel), (UNIT - keep) * BigInt(window)],
        cell(index, random) {
            const rest = (index * travel) % (size - 1);
            let place = (index * travel - rest) / (size - 1);
            if (travel % (size - 1))
                place += +(random.integer(size - 1) < rest);
            const near = random.bernoulli(held);
            const inside = place + drawn(window, random);
            const outside = drawn(travel, random);
            return near ? inside : outside + window * +(outside >= place);
        },
    };
}
function reported(cells, { ratio, cell }) {
    const width = unsigned(cells);
    return { ratio, width, permanent: (index, random) => little(cell(index, random), width) };
}
function reachless(size, epsilon) {
    const [odds, power] = exp(epsilon);
    const one = 1n << PLACES;
    return BigInt(size) * (odds * power - (odds - one) * one) < 2n * odds * (odds - one - power);
}
function drawn(limit, random) {
    return limit > 1 ? random.integer(limit) : 0;
}
