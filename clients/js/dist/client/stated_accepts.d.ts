import type { Accepts } from "./accepts.js";
export declare function checkAccepts(accepts: Accepts): Accepts;
