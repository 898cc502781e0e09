"""The exceptions of this package: one class for each thing that a caller can do about an error.

A message states the rule that was broken and shows the setting.  It never shows what a person
holds.  Each class carries the exit code of the command line and the HTTP status of the collector.
"""


class ConcernWarning(UserWarning):
    """A collection that works but has a weakness: read it, then change the task or go on."""


class SottovoceError(Exception):
    """The base class of every error that is raised on purpose."""

    exit_code = 1
    status = 500


class ParameterError(SottovoceError, ValueError):
    """A setting is not allowed: change the setting."""

    exit_code = 2
    status = 400


class DomainError(SottovoceError, ValueError):
    """A value lies outside the domain: correct the value or the domain."""

    exit_code = 3
    status = 422


class CodecError(SottovoceError, ValueError):
    """Bytes or JSON are malformed, as no correct writer produces them: drop them."""

    exit_code = 4
    status = 400


class MismatchError(SottovoceError):
    """Two things belong to different tasks, mechanisms or rounds: do not combine them."""

    exit_code = 5
    status = 409


class BudgetError(SottovoceError):
    """An answer would spend more than the budget, or spend it twice: do not answer."""

    exit_code = 6
    status = 403


class NoDataError(SottovoceError):
    """There are too few reports for an estimate: collect more."""

    exit_code = 7
    status = 404


# The extra of pyproject.toml that installs a module; a module in several stands in the smallest.
EXTRAS = {
    "cryptography": "sealed",
    "duckdb": "server",
    "gmpy2": "issuer",
    "jinja2": "server",
    "matplotlib": "plot",
    "msgspec": "server",
    "numba": "server",
    "pandas": "frames",
    "polars": "frames",
    "prometheus_client": "server",
    "psycopg": "postgres",
    "pyarrow": "frames",
    "pyspark": "spark",
    "scipy": "server",
    "sklearn": "server",
    "sqlglot": "server",
    "starlette": "server",
    "uvicorn": "server",
}


class MissingExtraError(SottovoceError, ImportError):
    """An optional dependency is not installed: install the extra that the message names."""

    exit_code = 8
    status = 501

    @classmethod
    def of(cls, error: ModuleNotFoundError) -> "MissingExtraError | None":
        """Return what to install for a module that was not found, None for a module not ours.

        >>> print(MissingExtraError.of(ModuleNotFoundError(name="starlette.routing")))
        this needs starlette, which is not installed: pip install 'sottovoce[server]'
        """
        module = (error.name or "").partition(".")[0]
        if module not in EXTRAS:
            return None
        install = f"pip install 'sottovoce[{EXTRAS[module]}]'"
        return cls(f"this needs {module}, which is not installed: {install}")


class UnavailableError(SottovoceError):
    """A disk, a database or a collector cannot serve now: nothing was lost, try again later."""

    exit_code = 9
    status = 503

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class AccessError(SottovoceError):
    """A token is missing, unknown or of the wrong scope: ask the operator for another."""

    exit_code = 10
    status = 403


class StateError(SottovoceError):
    """The task or round is not in the state that this needs: it is too early or too late."""

    exit_code = 11
    status = 409
