import { DomainError } from "../errors.js";
export function anyIndex(domain, random) {
    if (domain.anything)
        return domain.anything(random);
    if (domain.attributes)
        return domain.attributes.map((one) => anyIndex(one, random));
    return below(domain.size, random);
}
export function below(limit, random) {
    return limit < 2 ** 32 ? random.integer(Number(limit)) : narrow(random.wide(BigInt(limit)));
}
export function narrow(number) {
    return number < 1n << 53n ? Number(number) : number;
}
export function refuse(rule) {
    throw new DomainError(`a value must be ${rule}`);
}
