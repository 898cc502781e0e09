import { concatenate, hex, unhex } from "../bytes.js";
import { ParameterError } from "../errors.js";
import { own, subtle } from "./web_crypto.js";
export const SALT_BYTES = 48;
const HASH_BYTES = 48;
export function numberOf(bytes) {
    return BigInt(`0x${hex(bytes)}`);
}
export function bytesOf(number, length) {
    return unhex(number.toString(16).padStart(2 * length, "0"));
}
export async function encode(message, salt, modulusBits) {
    const encodedBytes = Math.ceil((modulusBits - 1) / 8);
    const maskBytes = encodedBytes - HASH_BYTES - 1;
    const messageHash = await sha384(message);
    const saltedHash = await sha384(concatenate(new Uint8Array(8), messageHash, salt));
    const block = numberOf(concatenate(Uint8Array.of(1), salt));
    const masked = block ^ numberOf(await mask(saltedHash, maskBytes));
    const usedBits = 8 * maskBytes - (8 * encodedBytes - (modulusBits - 1));
    const first = bytesOf(BigInt.asUintN(usedBits, masked), maskBytes);
    return numberOf(concatenate(first, saltedHash, Uint8Array.of(0xbc)));
}
export function blind(encoded, factor, modulus, exponent) {
    const blinded = (encoded * power(factor, exponent, modulus)) % modulus;
    inverse(blinded, modulus);
    return blinded;
}
export function unblind(blindSignature, factor, modulus) {
    return (blindSignature * inverse(factor, modulus)) % modulus;
}
function power(base, exponent, modulus) {
    let result = 1n;
    let square = base % modulus;
    for (let rest = exponent; rest; rest >>= 1n) {
        if (rest & 1n)
            result = (result * square) % modulus;
        square = (square * square) % modulus;
    }
    return result;
}
function inverse(number, modulus) {
    let [divisor, remainder] = [modulus, number % modulus];
    let [previous, current] = [0n, 1n];
    while (remainder) {
        const quotient = divisor / remainder;
        [divisor, remainder] = [remainder, divisor - quotient * remainder];
        [previous, current] = [current, previous - quotient * current];
    }
    if (divisor !== 1n)
        throw new ParameterError("`modulus` must be a product of two large primes");
    return ((previous % modulus) + modulus) % modulus;
}
async function sha384(data) {
    return new Uint8Array(await subtle().digest("SHA-384", own(data)));
}
async function mask(seed, length) {
    const blocks = [];
    for (let block = 0; block * HASH_BYTES < length; block++)
        blocks.push(await sha384(concatenate(seed, Uint8Array.of(0, 0, 0, block))));
    return concatenate(...blocks).slice(0, length);
}
