export declare class SottovoceError extends Error {
    get name(): string;
}
export declare class ParameterError extends SottovoceError {
}
export declare function need(condition: unknown, rule: string): asserts condition;
export declare class DomainError extends SottovoceError {
}
export declare class CodecError extends SottovoceError {
}
export declare class MismatchError extends SottovoceError {
}
export declare class BudgetError extends SottovoceError {
}
export declare class NoDataError extends SottovoceError {
}
export declare class MissingExtraError extends SottovoceError {
}
export declare class UnavailableError extends SottovoceError {
}
export declare class AccessError extends SottovoceError {
}
export declare class StateError extends SottovoceError {
}
