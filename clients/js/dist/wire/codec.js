import { utf8 } from "../bytes.js";
import { CodecError } from "../errors.js";
import { sha256 } from "../maths/sha256.js";
export function parse(text) {
    try {
        let keys = 0;
        const document = JSON.parse(text, (key, value) => {
            if (isDocument(value))
                keys += Object.keys(value).length;
            if (typeof value === "number" && !Number.isSafeInteger(value))
                throw 0;
            if (/\p{Cs}/u.test(typeof value === "string" ? `${key} ${value}` : key))
                throw 0;
            return value === 0 ? 0 : value;
        });
        const bare = text.replace(/"(\\.|[^"\\])*"|true|false/g, "");
        const exact = !/[.eE]/.test(bare) && bare.split(":").length === keys + 1;
        if (isDocument(document) && canonical(document) && exact)
            return document;
    }
    catch {
    }
    throw new CodecError("a document must be a JSON object of text, lists and whole numbers below 2^53, no key twice");
}
export function isDocument(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
export function canonical(content) {
    if (Array.isArray(content))
        return `[${content.map(canonical)}]`;
    if (!isDocument(content))
        return JSON.stringify(content);
    const keys = Object.keys(content).sort(byCodePoint);
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(content[key])}`)}}`;
}
export function digestBytes(document) {
    return sha256(utf8(canonical(document))).slice(0, 16);
}
export function digest(document) {
    const base64 = btoa(String.fromCharCode(...digestBytes(document)));
    return base64.replace(/[+/=]/g, (sign) => ({ "+": "-", "/": "_" })[sign] ?? "");
}
function byCodePoint(left, right) {
    const [a, b] = [[...left], [...right]];
    const i = a.findIndex((character, j) => character !== b[j]);
    if (i < 0)
        return a.length - b.length;
    return a[i].codePointAt(0) - (b[i]?.codePointAt(0) ?? -1);
}
