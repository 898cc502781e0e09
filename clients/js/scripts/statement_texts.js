// Writes src/wire/statement_texts.ts from the table of sentences that Python reads as well.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SOURCE = new URL("../../../src/sottovoce/wire/statement_texts.json", import.meta.url);
const TARGET = new URL("../src/wire/statement_texts.ts", import.meta.url);

/** Returns the text of the module. */
export function moduleText() {
  // The headings are those of the dashboard.
  const { about, headings, ...texts } = JSON.parse(readFileSync(SOURCE, "utf8"));
  const comment = "// Generated from src/sottovoce/wire/statement_texts.json by `npm run texts`: do not edit.";
  return `${comment}\n\nexport const TEXTS = ${JSON.stringify(texts, undefined, 2)};\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TARGET, moduleText());
