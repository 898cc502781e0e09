// A stream that a secret and a context determine: the source of permanent responses.  It stands
// apart from the other sources because only longitudinal tasks load it.

import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { need } from "../errors.js";
import { hmac } from "../maths/sha256.js";
import { Rng } from "./rng.js";

/** Blocks of HMAC-SHA-256(secret, "sottovoce/prr/v1" | context | counter). */
export class KeyedRng extends Rng {
  #rest: Uint8Array = new Uint8Array(0);
  #counter = 0;

  constructor(
    readonly secret: Uint8Array,
    readonly context: Uint8Array,
  ) {
    super();
    need(secret.length >= 16, "`secret` of a keyed stream must have at least 16 bytes");
  }

  bytes(count: number): Uint8Array {
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
