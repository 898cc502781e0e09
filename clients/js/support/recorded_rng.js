// A stream that was recorded beforehand.  It exists only for tests, out of the reach of clients.

import { Rng } from "../dist/core/rng.js";

export class RecordedRng extends Rng {
  consumed = 0;

  constructor(bytes) {
    super();
    this.recorded = bytes;
  }

  bytes(count) {
    const bytes = this.recorded.slice(this.consumed, this.consumed + count);
    if (bytes.length < count) throw new Error("the recording has ended");
    this.consumed += count;
    return bytes;
  }
}
