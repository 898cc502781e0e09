// The errors of this package, one class for each thing that the caller can do about them.
// A message states the rule and the setting, and never a value that a person holds.

export class SottovoceError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** A setting is not allowed: change the setting. */
export class ParameterError extends SottovoceError {}

/** Throws a `ParameterError` with the rule unless the condition holds. */
export function need(condition: unknown, rule: string): asserts condition {
  if (!condition) throw new ParameterError(rule);
}

/** A value lies outside the domain: correct the value or the domain. */
export class DomainError extends SottovoceError {}

/** Bytes or JSON are not well-formed: drop them. */
export class CodecError extends SottovoceError {}

/** Two things do not belong together, such as a report and another task. */
export class MismatchError extends SottovoceError {}

/** Answering would exceed the budget, or spend it twice: do not answer. */
export class BudgetError extends SottovoceError {}

/** There are too few reports for an answer: collect more. */
export class NoDataError extends SottovoceError {}

/** Something that is needed is missing: use another browser, or install what the message names. */
export class MissingExtraError extends SottovoceError {}

/** A disk or a collector cannot serve now: nothing was lost, try again later. */
export class UnavailableError extends SottovoceError {}

/** A token is missing, unknown or of the wrong scope: ask the operator for another. */
export class AccessError extends SottovoceError {}

/** The task or round is not in the state that this needs: it is too early or too late. */
export class StateError extends SottovoceError {}
