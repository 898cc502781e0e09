// The languages of the statement.  The table of a language is loaded when it is asked for.

import { need } from "../errors.js";
import type { TEXTS } from "./statement_texts/en.js";

/** The table of a language: sentences, phrases and how numbers are written. */
export type Texts = typeof TEXTS;

const TABLES: Readonly<Record<string, () => Promise<{ readonly TEXTS: Texts }>>> = {
  en: () => import("./statement_texts/en.js"),
  de: () => import("./statement_texts/de.js"),
  es: () => import("./statement_texts/es.js"),
  fr: () => import("./statement_texts/fr.js"),
  it: () => import("./statement_texts/it.js"),
  pt: () => import("./statement_texts/pt.js"),
};

export const LANGUAGES: readonly string[] = Object.keys(TABLES);

/** Returns the language if there is a table of it. */
export function checkLanguage(language: string): string {
  need(LANGUAGES.includes(language), `\`language\` must be one of ${LANGUAGES.join(", ")}`);
  return language;
}

export async function textsOf(language: string): Promise<Texts> {
  return (await TABLES[checkLanguage(language)]!()).TEXTS;
}
