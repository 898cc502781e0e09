export function joined(...parts) {
    const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts)
        (whole.set(part, at), (at += part.length));
    return whole;
}
export function little(number, width) {
    return Uint8Array.from({ length: width }, (_, i) => (i < 4 ? number >>> (8 * i) : 0));
}
export function unsigned(size) {
    return size <= 256 ? 1 : size <= 65536 ? 2 : 4;
}
export function utf8(text) {
    return new TextEncoder().encode(text);
}
export function hex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
export function unhex(text) {
    return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
