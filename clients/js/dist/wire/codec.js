import { utf8 } from "../bytes.js";
import { CodecError } from "../errors.js";
import { sha256 } from "../maths/sha256.js";
export function parse(text) {
    try {
        let keys = 0;
        const content = JSON.parse(text, (key, value) => {
            if (isContent(value))
                keys += Object.keys(value).length;
            const whole = typeof value !== "number" || Number.isSafeInteger(value);
            if (!whole || /\p{Cs}/u.test(typeof value === "string" ? `${key} ${value}` : key))
                throw 0;
            return value === 0 ? 0 : value;
        });
        const bare = text.replace(/"(\\.|[^"\\])*"|true|false/g, "");
        if (isContent(content) && canonical(content) && !/[.eE]/.test(bare) && bare.split(":").length === keys + 1)
            return content;
    }
    catch {
    }
    throw new CodecError("a document is a JSON object of whole numbers below 2^53, text and lists, and has no key twice");
}
export function isContent(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
export function canonical(content) {
    if (Array.isArray(content))
        return `[${content.map(canonical)}]`;
    if (!isContent(content))
        return JSON.stringify(content);
    const keys = Object.keys(content).sort(byCodePoint);
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(content[key])}`)}}`;
}
export function digestBytes(content) {
    return sha256(utf8(canonical(content))).slice(0, 16);
}
export function digest(content) {
    return btoa(String.fromCharCode(...digestBytes(content))).replace(/[+/=]/g, (sign) => ({ "+": "-", "/": "_" })[sign] ?? "");
}
function byCodePoint(left, right) {
    const [a, b] = [[...left], [...right]];
    const at = a.findIndex((character, i) => character !== b[i]);
    return at < 0 ? a.length - b.length : (a[at].codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}
