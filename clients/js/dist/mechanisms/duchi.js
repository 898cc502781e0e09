import { threshold } from "../wire/fields.js";
import { mechanismReader } from "./base.js";
import { POINTS, windowMechanism } from "./window.js";
export const read = mechanismReader("duchi", POINTS, { keep: threshold }, ({ size, keep }) => windowMechanism({ size, cells: 2, window: 1, keep }));
