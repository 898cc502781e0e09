export function unsignedWidth(size) {
    if (size <= 256)
        return 1;
    return size <= 65536 ? 2 : 4;
}
export function packBits(size, bit) {
    const packed = new Uint8Array(Math.ceil(size / 8));
    for (let i = 0; i < size; i++)
        packed[i >> 3] |= +bit(i) << (i & 7);
    return packed;
}
