// The arithmetic of a device in blind RSA signatures (RSABSSA-SHA384-PSS).
//
//     encoded = EMSA-PSS(message, salt)
//     blinded = encoded factor^e mod n            what the issuer sees: a uniform number
//     signature = blind signature / factor mod n  a signature of RSASSA-PSS
//
// These functions draw nothing: salt and factor are arguments, so that published vectors can check
// every step.  `tokens.ts` draws them.  Signing is left to issuers, which run in Python.
// Source: RFC 9474, RFC 8017.

import { concatenate, hex, unhex } from "../bytes.js";
import { ParameterError } from "../errors.js";
import { own, subtle } from "./web_crypto.js";

export const SALT_BYTES = 48;
const HASH_BYTES = 48; // of SHA-384

/** Returns the number that some bytes spell, the first one the most significant. */
export function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${hex(bytes)}`);
}

export function bytesOf(number: bigint, length: number): Uint8Array {
  return unhex(number.toString(16).padStart(2 * length, "0"));
}

/** Returns EMSA-PSS-ENCODE of a message with SHA-384 and MGF1. */
export async function encode(
  message: Uint8Array,
  salt: Uint8Array,
  modulusBits: number,
): Promise<bigint> {
  const encodedBytes = Math.ceil((modulusBits - 1) / 8);
  const maskBytes = encodedBytes - HASH_BYTES - 1;
  const messageHash = await sha384(message);
  const saltedHash = await sha384(concatenate(new Uint8Array(8), messageHash, salt));
  const block = numberOf(concatenate(Uint8Array.of(1), salt)); // after zero bytes
  const masked = block ^ numberOf(await mask(saltedHash, maskBytes));
  const usedBits = 8 * maskBytes - (8 * encodedBytes - (modulusBits - 1));
  const first = bytesOf(BigInt.asUintN(usedBits, masked), maskBytes);
  return numberOf(concatenate(first, saltedHash, Uint8Array.of(0xbc)));
}

/**
 * Returns what the issuer sees: uniform if the factor is, whatever is encoded.  A modulus with
 * small factors, made by a dishonest issuer, would let factors of the encoded message through.
 */
export function blind(encoded: bigint, factor: bigint, modulus: bigint, exponent: bigint): bigint {
  const blinded = (encoded * power(factor, exponent, modulus)) % modulus;
  inverse(blinded, modulus);
  return blinded;
}

/** Returns the signature on what was encoded. */
export function unblind(blindSignature: bigint, factor: bigint, modulus: bigint): bigint {
  return (blindSignature * inverse(factor, modulus)) % modulus;
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (let rest = exponent; rest; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** Returns the inverse by the extended algorithm of Euclid. */
function inverse(number: bigint, modulus: bigint): bigint {
  let [divisor, remainder] = [modulus, number % modulus];
  let [previous, current] = [0n, 1n]; // current * number = remainder mod modulus
  while (remainder) {
    const quotient = divisor / remainder;
    [divisor, remainder] = [remainder, divisor - quotient * remainder];
    [previous, current] = [current, previous - quotient * current];
  }
  if (divisor !== 1n)
    throw new ParameterError("`modulus` must be a product of two large primes");
  return ((previous % modulus) + modulus) % modulus;
}

async function sha384(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle().digest("SHA-384", own(data)));
}

/** Returns MGF1 of a seed with SHA-384. */
async function mask(seed: Uint8Array, length: number): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for (let block = 0; block * HASH_BYTES < length; block++)
    blocks.push(await sha384(concatenate(seed, Uint8Array.of(0, 0, 0, block))));
  return concatenate(...blocks).slice(0, length);
}
