import { small, threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { POINTS, windowMechanism } from "./window.js";
export const SHAPE = { cells: small, window: small, keep: threshold };
export const read = mechanismReader("piecewise", POINTS, SHAPE, windowMechanism);
