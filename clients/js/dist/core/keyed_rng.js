import { joined, little, utf8 } from "../bytes.js";
import { ParameterError } from "../errors.js";
import { Random } from "./rng.js";
import { hmac } from "../maths/sha256.js";
export class KeyedRandom extends Random {
    secret;
    context;
    #rest = new Uint8Array(0);
    #counter = 0;
    constructor(secret, context) {
        super();
        this.secret = secret;
        this.context = context;
        if (secret.length < 16)
            throw new ParameterError("a memo secret needs at least 16 bytes");
    }
    bytes(count) {
        const blocks = [this.#rest];
        for (let held = this.#rest.length; held < count; held += 32) {
            blocks.push(hmac(this.secret, utf8("sottovoce/prr/v1"), this.context, little(this.#counter++, 4)));
        }
        const stream = joined(...blocks);
        this.#rest = stream.slice(count);
        return stream.slice(0, count);
    }
}
