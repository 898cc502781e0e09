import { utf8 } from "../bytes.js";
import { need } from "../errors.js";
import { flag, readFields, small } from "../wire/fields.js";
import { narrow, refuse } from "./base.js";
import { bigEndian, bitString } from "./bits.js";
const MAX_LENGTH = 60;
export function read(document) {
    const { length, whole } = readFields(document, "strings", { length: small, whole: flag });
    need(length >= 1 && length <= MAX_LENGTH, `\`length\` must be from 1 to ${MAX_LENGTH} bytes`);
    return {
        ...bitString(8 * length),
        facts: { kind: "strings", length },
        index(value) {
            if (typeof value !== "string" || /[\0\p{Cs}]/u.test(value))
                return refuse("text without zero characters and halves of surrogate pairs");
            const encoded = utf8(value.normalize("NFC"));
            if (whole && encoded.length > length)
                refuse(`text of at most ${length} bytes in UTF-8`);
            let end = length;
            while ((encoded[end] & 0xc0) === 0x80)
                end--;
            const padded = new Uint8Array(length);
            padded.set(encoded.subarray(0, end));
            return narrow(bigEndian(padded));
        },
    };
}
