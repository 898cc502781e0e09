"""The exception tree: one class per thing the caller can do about it.

Messages state the rule and the setting, never a value somebody holds.
"""


class ConcernWarning(UserWarning):
    """Something speaks against collecting like this: read it, then change the task or go on."""


class SottovoceError(Exception):
    """The root of every error raised on purpose."""

    exit_code = 1
    status = 500


class ParameterError(SottovoceError, ValueError):
    """A setting that cannot work: change the setting."""

    exit_code = 2
    status = 400


class DomainError(SottovoceError, ValueError):
    """A value outside the domain: correct the value, or the domain."""

    exit_code = 3
    status = 422


class CodecError(SottovoceError, ValueError):
    """Bytes or JSON that no honest writer produces: drop them."""

    exit_code = 4
    status = 400


class MismatchError(SottovoceError):
    """Things that do not belong together: another task, another mechanism, another round."""

    exit_code = 5
    status = 409


class BudgetError(SottovoceError):
    """Answering would spend more than the budget, or spend it twice: do not answer."""

    exit_code = 6
    status = 403


class NoDataError(SottovoceError):
    """Too few reports to say anything: collect more."""

    exit_code = 7
    status = 404


class MissingExtraError(SottovoceError, ImportError):
    """An optional part is not installed: install the extra it names."""

    exit_code = 8
    status = 501


class UnavailableError(SottovoceError):
    """A disk, a database or a collector that cannot serve now: nothing was lost, try again later."""

    exit_code = 9
    status = 503

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AccessError(SottovoceError):
    """A token that is missing, unknown or of the wrong scope: ask the operator for another."""

    exit_code = 10
    status = 403


class StateError(SottovoceError):
    """Too early or too late: the task or round is not in the state that this needs."""

    exit_code = 11
    status = 409
