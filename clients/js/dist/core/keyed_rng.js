import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { need } from "../errors.js";
import { hmacWith } from "../maths/sha256.js";
import { Rng } from "./rng.js";
export class KeyedRng extends Rng {
    secret;
    context;
    #rest = new Uint8Array(0);
    #counter = 0;
    #prefix;
    #hmac;
    constructor(secret, context) {
        super();
        this.secret = secret;
        this.context = context;
        need(secret.length >= 16, "`secret` of a keyed stream must have at least 16 bytes");
        this.#prefix = concatenate(utf8("sottovoce/prr/v1"), context);
        this.#hmac = hmacWith(secret);
    }
    word() {
        const rest = this.#rest;
        if (rest.length < 4)
            return super.word();
        this.#rest = rest.subarray(4);
        return (rest[0] | (rest[1] << 8) | (rest[2] << 16) | (rest[3] << 24)) >>> 0;
    }
    bytes(count) {
        const bytes = new Uint8Array(count);
        for (let filled = 0; filled < count;) {
            if (!this.#rest.length)
                this.#rest = this.#hmac(this.#prefix, littleEndian(this.#counter++, 4));
            const part = this.#rest.subarray(0, count - filled);
            bytes.set(part, filled);
            filled += part.length;
            this.#rest = this.#rest.subarray(part.length);
        }
        return bytes;
    }
}
