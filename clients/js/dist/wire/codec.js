import { base64url, utf8 } from "../bytes.js";
import { MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, MAX_DOCUMENT_ENTRIES, MAX_DOCUMENT_NOUNS, } from "../core/bounds.js";
import { CodecError } from "../errors.js";
import { sha256 } from "../maths/sha256.js";
export function parse(text) {
    return parseCanonical(text).document;
}
export function parseCanonical(text) {
    if (text.length > MAX_DOCUMENT_BYTES || utf8(text).length > MAX_DOCUMENT_BYTES)
        throw new CodecError(`a document may have at most ${grouped(MAX_DOCUMENT_BYTES)} bytes`);
    const { depth, entries, quotes, colons, hasFloat, hasSurrogate } = outlineOf(text);
    if (Math.max(entries, Math.floor(quotes / 4)) > MAX_DOCUMENT_ENTRIES)
        throw new CodecError(`a document may have at most ${grouped(MAX_DOCUMENT_ENTRIES)} entries`);
    if (text.split('"kind"').length - 1 > MAX_DOCUMENT_NOUNS)
        throw new CodecError(`a document may have at most ${grouped(MAX_DOCUMENT_NOUNS)} kinds`);
    if (depth > MAX_DOCUMENT_DEPTH)
        throw new CodecError(`a document may have at most ${MAX_DOCUMENT_DEPTH} levels, each of them closed`);
    try {
        const document = JSON.parse(text);
        const writer = new Writer(hasSurrogate);
        const canonicalText = writer.write(document);
        if (isDocument(document) && !hasFloat && writer.keyCount === colons)
            return { document, canonicalText };
    }
    catch {
    }
    throw new CodecError("a document must be a JSON object of text, lists and whole numbers below 2^53, no key twice");
}
const UNITS = {
    "{": 123,
    "}": 125,
    "[": 91,
    "]": 93,
    ",": 44,
    ":": 58,
    '"': 34,
    "\\": 92,
    ".": 46,
    E: 69,
    e: 101,
};
function outlineOf(text) {
    const counts = { depth: 0, entries: 0, quotes: 0, colons: 0 };
    const outline = { ...counts, hasFloat: false, hasSurrogate: false };
    let depth = 0;
    let inString = false;
    for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        const opens = unit === UNITS["{"] || unit === UNITS["["];
        if (opens || unit === UNITS[","])
            outline.entries += 1;
        if (unit === UNITS['"']) {
            outline.quotes += 1;
            inString = !inString;
        }
        else if (inString) {
            if (unit >= 0xd800 && unit < 0xe000)
                outline.hasSurrogate = true;
            if (unit === UNITS["\\"] && text[++i] === "u")
                outline.hasSurrogate = true;
        }
        else if (opens) {
            depth += 1;
            outline.depth = Math.max(outline.depth, depth);
        }
        else if (unit === UNITS["}"] || unit === UNITS["]"])
            depth -= 1;
        else if (unit === UNITS[":"])
            outline.colons += 1;
        else if (unit === UNITS["."] || unit === UNITS.E)
            outline.hasFloat = true;
        else if (unit === UNITS.e && /\d/.test(text[i - 1] ?? ""))
            outline.hasFloat = true;
    }
    return outline;
}
export function grouped(count) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
export function isDocument(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
export function canonical(content) {
    return new Writer(true).write(content);
}
class Writer {
    mayHaveSurrogates;
    keyCount = 0;
    constructor(mayHaveSurrogates) {
        this.mayHaveSurrogates = mayHaveSurrogates;
    }
    write(content) {
        if (typeof content === "string")
            return this.#writeText(content);
        if (typeof content === "number" && !Number.isSafeInteger(content))
            throw 0;
        const parts = [];
        if (Array.isArray(content)) {
            for (const entry of content)
                parts.push(this.write(entry));
            return `[${parts.join(",")}]`;
        }
        if (!isDocument(content))
            return String(content);
        const keys = Object.keys(content);
        this.keyCount += keys.length;
        keys.sort(this.mayHaveSurrogates ? byCodePoint : undefined);
        for (const key of keys)
            parts.push(`${this.#writeText(key)}:${this.write(content[key])}`);
        return `{${parts.join(",")}}`;
    }
    #writeText(text) {
        if (this.mayHaveSurrogates && /\p{Cs}/u.test(text))
            throw 0;
        return JSON.stringify(text);
    }
}
export function fingerprintOf(canonicalText) {
    return sha256(utf8(canonicalText));
}
export function digest(document) {
    return base64url(fingerprintOf(canonical(document)).slice(0, 16));
}
function byCodePoint(left, right) {
    const length = Math.min(left.length, right.length);
    let i = 0;
    while (i < length && left.charCodeAt(i) === right.charCodeAt(i))
        i++;
    if (i === length)
        return left.length - right.length;
    return rankOf(left.charCodeAt(i)) - rankOf(right.charCodeAt(i));
}
function rankOf(unit) {
    return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
