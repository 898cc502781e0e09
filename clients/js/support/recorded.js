// A stream that was recorded beforehand: it exists only here, out of the clients' reach.

import { Random } from "../dist/core/rng.js";

export class RecordedRandom extends Random {
  consumed = 0;

  constructor(bytes) {
    super();
    this.recorded = bytes;
  }

  bytes(count) {
    const found = this.recorded.slice(this.consumed, this.consumed + count);
    if (found.length < count) throw new Error("the recording has ended");
    this.consumed += count;
    return found;
  }
}
