// Text that a stranger chose and a person reads: bounded, composed, without hidden characters.

import { need } from "../errors.js";
import { HIDDEN_CHARACTERS } from "./hidden_characters.js";

/** Refuses text that is too long, or that does not show what it holds. */
export function plainText(name: string, text: string, maxLength: number): void {
  checkPlainText(`\`${name}\``, text, maxLength);
}

/** Refuses a list with an entry that is no plain text. */
export function plainTexts(name: string, texts: readonly string[], maxLength: number): void {
  for (const text of texts) checkPlainText(`each entry of \`${name}\``, text, maxLength);
}

function checkPlainText(subject: string, text: string, maxLength: number): void {
  // A character takes one or two units.
  const fits = text.length <= 2 * maxLength && [...text].length <= maxLength;
  need(fits, `${subject} must be text of at most ${maxLength} characters`);
  need(
    !HIDDEN_CHARACTERS.test(text),
    `${subject} must be text without control, invisible and direction characters`,
  );
  need(text.normalize("NFC") === text, `${subject} must be text in composed form (NFC)`);
}
