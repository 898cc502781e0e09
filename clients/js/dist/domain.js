import { DomainError } from "./errors.js";
export function anyIndex(domain, random) {
    if (domain.anything)
        return domain.anything(random);
    if (domain.attributes)
        return domain.attributes.map((one) => anyIndex(one, random));
    return domain.size < 2 ** 32 ? random.integer(Number(domain.size)) : narrow(random.wide(BigInt(domain.size)));
}
export function narrow(number) {
    return number < 1n << 53n ? Number(number) : number;
}
export function refuse(rule) {
    throw new DomainError(`a value must be ${rule}`);
}
