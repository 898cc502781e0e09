// A stream fixed by a secret and a context: the memory of a permanent response.

import { joined, little, utf8 } from "../bytes.js";
import { ParameterError } from "../errors.js";
import { Random } from "./rng.js";
import { hmac } from "../maths/sha256.js";

/** Blocks of HMAC(secret, "sottovoce/prr/v1" | context | counter). */
export class KeyedRandom extends Random {
  #rest: Uint8Array = new Uint8Array(0);
  #counter = 0;

  constructor(
    readonly secret: Uint8Array,
    readonly context: Uint8Array,
  ) {
    super();
    if (secret.length < 16) throw new ParameterError("a memo secret needs at least 16 bytes");
  }

  bytes(count: number): Uint8Array {
    const blocks = [this.#rest];
    for (let held = this.#rest.length; held < count; held += 32) {
      blocks.push(hmac(this.secret, utf8("sottovoce/prr/v1"), this.context, little(this.#counter++, 4)));
    }
    const stream = joined(...blocks);
    this.#rest = stream.slice(count);
    return stream.slice(0, count);
  }
}
