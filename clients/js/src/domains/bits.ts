// Bits: values of a fixed number of bits, such as identifiers, hashes and addresses.

import type { Rng } from "../core/rng.js";
import { need } from "../errors.js";
import type { Json } from "../wire/codec.js";
import type { Whole } from "../wire/fields.js";
import { readFields, small } from "../wire/fields.js";
import type { Domain } from "./base.js";
import { narrow, refuse } from "./base.js";

const MAX_BITS = 480;

export function read(document: Json): Domain {
  const { bits } = readFields(document, "bits", { bits: small });
  need(bits >= 2 && bits <= MAX_BITS, `\`bits\` must be from 2 to ${MAX_BITS}`);
  return {
    ...bitString(bits),
    facts: { kind: "bits", bits },
    index(value) {
      const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
      const number = isWhole ? BigInt(value as Whole) : -1n;
      const fits = number >= 0n && number >> BigInt(bits) === 0n;
      return fits ? narrow(number) : refuse(`a whole number below 2^${bits}`);
    },
  };
}

/** Returns what domains of long values share. */
export function bitString(bits: number): Pick<Domain, "size" | "bits" | "randomIndex"> {
  const randomIndex = (rng: Rng): Whole => {
    const bytes = rng.bytes(Math.ceil(bits / 8)).reverse();
    return narrow(BigInt.asUintN(bits, bigEndian(bytes)));
  };
  return { size: narrow(1n << BigInt(bits)), bits, randomIndex };
}

/** Returns the number that bytes spell, the most significant byte first. */
export function bigEndian(bytes: Uint8Array): bigint {
  let number = 0n;
  for (const byte of bytes) number = (number << 8n) | BigInt(byte);
  return number;
}
