export function concatenate(...parts) {
    const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let offset = 0;
    for (const part of parts) {
        bytes.set(part, offset);
        offset += part.length;
    }
    return bytes;
}
export function littleEndian(number, width) {
    const bytes = new Uint8Array(width);
    for (let i = 0; i < width && i < 4; i++)
        bytes[i] = number >>> (8 * i);
    return bytes;
}
export function utf8(text) {
    return new TextEncoder().encode(text);
}
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
export function hex(bytes) {
    let text = "";
    for (const byte of bytes)
        text += PAIRS[byte];
    return text;
}
export function unhex(text) {
    const bytes = new Uint8Array(text.length / 2);
    for (let i = 0; i < bytes.length; i++)
        bytes[i] = parseInt(text.slice(2 * i, 2 * i + 2), 16);
    return bytes;
}
export function base64url(bytes) {
    const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return base64.replace(/[+/=]/g, (sign) => ({ "+": "-", "/": "_" })[sign] ?? "");
}
