// A stream that a secret and a context determine: the source of permanent responses.  It stands
// apart from the other sources because only longitudinal tasks load it.

import { concatenate, littleEndian, utf8 } from "../bytes.js";
import { need } from "../errors.js";
import { hmacWith } from "../maths/sha256.js";
import { Rng } from "./rng.js";

/** Blocks of HMAC-SHA-256(secret, "sottovoce/prr/v1" | context | counter). */
export class KeyedRng extends Rng {
  #rest: Uint8Array = new Uint8Array(0);
  #counter = 0;
  readonly #prefix: Uint8Array;
  readonly #hmac: (...parts: Uint8Array[]) => Uint8Array;

  constructor(
    readonly secret: Uint8Array,
    readonly context: Uint8Array,
  ) {
    super();
    need(secret.length >= 16, "`secret` of a keyed stream must have at least 16 bytes");
    this.#prefix = concatenate(utf8("sottovoce/prr/v1"), context);
    this.#hmac = hmacWith(secret);
  }

  override word(): number {
    const rest = this.#rest;
    if (rest.length < 4) return super.word();
    this.#rest = rest.subarray(4);
    return (rest[0]! | (rest[1]! << 8) | (rest[2]! << 16) | (rest[3]! << 24)) >>> 0;
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let filled = 0; filled < count; ) {
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
