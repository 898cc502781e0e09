import { need } from "../errors.js";
import { HIDDEN_CHARACTERS } from "./hidden_characters.js";
export function plainText(name, text, maxLength) {
    checkPlainText(`\`${name}\``, text, maxLength);
}
export function plainTexts(name, texts, maxLength) {
    for (const text of texts)
        checkPlainText(`each entry of \`${name}\``, text, maxLength);
}
function checkPlainText(subject, text, maxLength) {
    const fits = text.length <= 2 * maxLength && [...text].length <= maxLength;
    need(fits, `${subject} must be text of at most ${maxLength} characters`);
    need(!HIDDEN_CHARACTERS.test(text), `${subject} must be text without control, invisible and direction characters`);
    need(text.normalize("NFC") === text, `${subject} must be text in composed form (NFC)`);
}
