export class SottovoceError extends Error {
    get name() {
        return this.constructor.name;
    }
}
export class ParameterError extends SottovoceError {
}
export function need(condition, rule) {
    if (!condition)
        throw new ParameterError(rule);
}
export class DomainError extends SottovoceError {
}
export class CodecError extends SottovoceError {
}
export class MismatchError extends SottovoceError {
}
export class BudgetError extends SottovoceError {
}
export class NoDataError extends SottovoceError {
}
export class MissingExtraError extends SottovoceError {
}
export class UnavailableError extends SottovoceError {
}
export class AccessError extends SottovoceError {
}
export class StateError extends SottovoceError {
}
