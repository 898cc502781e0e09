import type { Texts } from "../languages.js";
export declare const TEXTS: Texts;
