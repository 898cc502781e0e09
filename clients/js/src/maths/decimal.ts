// Decimals as documents spell them, and as exact integers of 10^-324, which every double's spelling is.

export const SCALE = 10n ** 324n;

/** Returns the shortest text that gives the same double, with a point or an exponent as Python writes it. */
export function repr(number: number): string {
  const [digits, exponent] = number.toExponential().split("e") as [string, string];
  if (+exponent >= -4 && +exponent < 16) return Number.isInteger(number) ? number + ".0" : String(number);
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** Returns the number that a decimal text names, in units of 10^-324. */
export function stated(text: string): bigint {
  const [digits, exponent = "0"] = text.split("e") as [string, string?];
  const [whole, part = ""] = digits.split(".") as [string, string?];
  return BigInt(whole + part) * 10n ** BigInt(324 + +exponent - part.length);
}

/** Returns the double nearest to an exact number, as documents spell it. */
export function rounded(exact: bigint): string {
  return repr(Number(exact + "e-324"));
}
