import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { need } from "../errors.js";
import { hmac } from "../maths/sha256.js";
import { Rng } from "./rng.js";
export class KeyedRng extends Rng {
    secret;
    context;
    #rest = new Uint8Array(0);
    #counter = 0;
    constructor(secret, context) {
        super();
        this.secret = secret;
        this.context = context;
        need(secret.length >= 16, "`secret` of a keyed stream must have at least 16 bytes");
    }
    bytes(count) {
        const blocks = [this.#rest];
        for (let length = this.#rest.length; length < count; length += 32) {
            const counter = littleEndian(this.#counter++, 4);
            blocks.push(hmac(this.secret, utf8("sottovoce/prr/v1"), this.context, counter));
        }
        const stream = concatenate(...blocks);
        this.#rest = stream.slice(count);
        return stream.slice(0, count);
    }
}
