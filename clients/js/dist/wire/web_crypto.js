import { MissingExtraError } from "../errors.js";
export function subtle() {
    const found = globalThis.crypto?.subtle;
    if (found)
        return found;
    throw new MissingExtraError("sealed messages need crypto.subtle: use HTTPS and a newer browser");
}
export function own(bytes) {
    return Uint8Array.from(bytes);
}
