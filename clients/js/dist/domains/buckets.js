import { readRealRange } from "./real_range.js";
export function read(document) {
    const bucket = (position, size) => Math.min(Math.floor(position * size), size - 1);
    return readRealRange(document, "buckets", "count", bucket);
}
