import type { TEXTS } from "./statement_texts/en.js";
export type Texts = typeof TEXTS;
export declare const LANGUAGES: readonly string[];
export declare function checkLanguage(language: string): string;
export declare function textsOf(language: string): Promise<Texts>;
