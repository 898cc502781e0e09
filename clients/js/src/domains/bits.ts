// Values of a fixed number of bits: identifiers, hashes, addresses.

import type { Json } from "../wire/codec.js";
import type { Domain } from "./base.js";
import { narrow, refuse } from "./base.js";
import { need } from "../errors.js";
import type { Whole } from "../wire/fields.js";
import { fields, small } from "../wire/fields.js";
import type { Random } from "../core/rng.js";

const LONGEST = 480;

export function bits(content: Json): Domain {
  const { bits } = fields(content, "bits", { bits: small });
  need(bits >= 2 && bits <= LONGEST, `a value has from 2 to ${LONGEST} bits`);
  return {
    ...long(bits),
    index(value) {
      const held = typeof value === "bigint" || Number.isSafeInteger(value) ? BigInt(value as Whole) : -1n;
      return held >= 0n && held >> BigInt(bits) === 0n ? narrow(held) : refuse(`a whole number below 2^${bits}`);
    },
  };
}

/** What domains of long values share. */
export function long(bits: number): Pick<Domain, "size" | "bits" | "anything"> {
  return {
    size: narrow(1n << BigInt(bits)),
    bits,
    anything: (random: Random) => narrow(BigInt.asUintN(bits, number(random.bytes(Math.ceil(bits / 8)).reverse()))),
  };
}

/** Returns the number that bytes spell, the first one the most significant. */
export function number(bytes: Uint8Array): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n as any) as bigint;
}
