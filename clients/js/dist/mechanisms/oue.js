import { mechanismReader } from "./base.js";
import { SHAPE, SIZES, unary } from "./unary.js";
export const read = mechanismReader("oue", SIZES, SHAPE, ({ size, keep, flip }) => unary(size, keep, flip));
