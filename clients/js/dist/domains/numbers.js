import { readRealRange } from "./real_range.js";
export function read(document) {
    const nearestPoint = (position, size) => roundHalfToEven(position * (size - 1));
    return readRealRange(document, "numbers", "points", nearestPoint);
}
function roundHalfToEven(number) {
    const floor = Math.floor(number);
    const rest = number - floor;
    const roundUp = rest > 0.5 || (rest === 0.5 && floor % 2);
    return roundUp ? floor + 1 : floor;
}
