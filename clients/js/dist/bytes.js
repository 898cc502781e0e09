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
    return Uint8Array.from({ length: width }, (_, i) => (i < 4 ? number >>> (8 * i) : 0));
}
export function utf8(text) {
    return new TextEncoder().encode(text);
}
export function hex(bytes) {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
export function unhex(text) {
    const byte = (i) => parseInt(text.slice(2 * i, 2 * i + 2), 16);
    return Uint8Array.from({ length: text.length / 2 }, (_, i) => byte(i));
}
