// The platform's cryptography, which is asynchronous and missing on insecure pages.

import { MissingExtraError } from "../errors.js";

/** A byte array as the platform wants it: one that no other thread shares. */
export type OwnBytes = Uint8Array<ArrayBuffer>;

export function subtle(): SubtleCrypto {
  const found = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (found) return found;
  throw new MissingExtraError("sealed messages need crypto.subtle: use HTTPS and a newer browser");
}

/** Returns the bytes in an array of their own. */
export function own(bytes: Uint8Array): OwnBytes {
  return Uint8Array.from(bytes);
}
