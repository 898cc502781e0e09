export const SCALE = 10n ** 324n;
export function repr(number) {
    const [digits, exponent] = number.toExponential().split("e");
    if (+exponent >= -4 && +exponent < 16)
        return Number.isInteger(number) ? number + ".0" : String(number);
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
export function stated(text) {
    const [digits, exponent = "0"] = text.split("e");
    const [whole, part = ""] = digits.split(".");
    return BigInt(whole + part) * 10n ** BigInt(324 + +exponent - part.length);
}
export function rounded(exact) {
    return repr(Number(exact + "e-324"));
}
