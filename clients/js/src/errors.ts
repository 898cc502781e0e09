// The exception tree: one class per thing the caller can do about it.
// Messages state the rule and the setting, never a value somebody holds.

export class SottovoceError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** A setting that cannot work: change the setting. */
export class ParameterError extends SottovoceError {}

/** Refuses a setting that breaks a rule. */
export function need(holds: unknown, rule: string): asserts holds {
  if (!holds) throw new ParameterError(rule);
}

/** A value outside the domain: correct the value, or the domain. */
export class DomainError extends SottovoceError {}

/** Bytes or JSON that no honest writer produces: drop them. */
export class CodecError extends SottovoceError {}

/** Things that do not belong together: another task, another mechanism, another round. */
export class MismatchError extends SottovoceError {}

/** Answering would spend more than the budget, or spend it twice: do not answer. */
export class BudgetError extends SottovoceError {}

/** Too few reports to say anything: collect more. */
export class NoDataError extends SottovoceError {}

/** A part that is needed is not there: use another browser, or install what is named. */
export class MissingExtraError extends SottovoceError {}

/** A disk or a collector that cannot serve now: nothing was lost, try again later. */
export class UnavailableError extends SottovoceError {}

/** A token that is missing, unknown or of the wrong scope: ask the operator for another. */
export class AccessError extends SottovoceError {}

/** Too early or too late: the task or round is not in the state that this needs. */
export class StateError extends SottovoceError {}
