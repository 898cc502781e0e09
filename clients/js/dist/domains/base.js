import { DomainError } from "../errors.js";
export function randomIndex(domain, rng) {
    if (domain.randomIndex)
        return domain.randomIndex(rng);
    if (domain.attributes)
        return domain.attributes.map((attribute) => randomIndex(attribute, rng));
    return randomBelow(domain.size, rng);
}
export function randomBelow(limit, rng) {
    return limit < 2 ** 32 ? rng.integer(Number(limit)) : narrow(rng.wideInteger(BigInt(limit)));
}
export function narrow(number) {
    return number < 1n << 53n ? Number(number) : number;
}
export function refuse(rule) {
    throw new DomainError(`a value must be ${rule}`);
}
