"""Everything that can be refused: code, status, meaning, whether to try again, who acts and how.

The catalogue in the documentation is written from this table.  ``RequestError`` carries a code; errors of the library
map to one by their class.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sottovoce import errors
from sottovoce.errors import SottovoceError
from sottovoce.sql.errors import QueryError


@dataclass(frozen=True)
class Problem:
    """One row of the catalogue; ``status`` 200 means that a code stands beside one report of an upload."""

    code: str
    status: int
    title: str
    retry: bool
    actor: str
    remedy: str


REPORTS = (
    Problem("malformed", 200, "not an envelope of a version that this collector reads", False, "client", "drop it; update the client"),
    Problem("other-task", 200, "a report for another task, or another version of this one", False, "client", "fetch the task again; the old answer cannot be counted"),
    Problem("undeclared", 200, "fields that the task does not declare, or declared ones missing", False, "client", "drop it; update the client"),
    Problem("incomplete", 200, "not exactly one report for every slot of the bundle, all of one subject and with one public part", False, "client", "send the whole message as it was made"),
    Problem("impossible", 200, "a payload that the mechanism cannot make, or a public part that the task does not have", False, "client", "drop it; update the client"),
    Problem("conflicting", 200, "some reports of this bundle were sent before in another one", False, "client", "send the whole message as it was made"),
    Problem("too-early", 200, "the round has not been opened", True, "client", "send the same bytes later"),
    Problem("too-late", 200, "the round is sealed", False, "client", "drop it; it cannot be counted any more"),
    Problem("not-asked", 200, "this token's coin belongs to another round or another question", False, "client", "answer what the coin says"),
    Problem("token-missing", 200, "this task takes reports only with an enrolment token", False, "client", "enrol first, then send the same bytes"),
    Problem("token-unknown", 200, "the enrolment token is unknown, expired or revoked", False, "operator", "issue a token"),
    Problem("token-spent", 200, "the enrolment token has paid for another message", False, "client", "drop it; one token buys one bundle per task"),
)  # fmt: skip

REQUESTS = (
    Problem("malformed-request", 400, "the body is not what this route documents", False, "client", "compare the request with the OpenAPI document"),
    Problem("invalid", 400, "a setting that cannot work", False, "caller", "change the setting that the detail names"),
    Problem("query", 400, "a question in SQL that cannot be answered as it is written", False, "analyst", "`rule` says which rule it breaks, `line` and `column` where"),
    Problem("unauthenticated", 401, "a token is needed", False, "caller", "send `Authorization: Bearer TOKEN`"),
    Problem("forbidden", 403, "the token does not allow this", False, "operator", "use a token of the scope that the detail names"),
    Problem("not-found", 404, "there is no such task or page", False, "caller", "list the tasks at /v1/tasks"),
    Problem("no-data", 404, "there is nothing to answer from", False, "analyst", "wait for reports"),
    Problem("method-not-allowed", 405, "this page does not take this method", False, "caller", "see the OpenAPI document"),
    Problem("not-acceptable", 406, "the answer has no such format", False, "caller", "ask for application/json or text/csv"),
    Problem("conflict", 409, "things that do not belong together", False, "caller", "a task never changes: publish another name"),
    Problem("not-ready", 409, "the task is not in the state that this needs", True, "analyst", "wait for its rounds to be sealed"),
    Problem("too-few-users", 409, "fewer users than the task's minimum: nothing is released", False, "operator", "ask more people in a new task"),
    Problem("too-large", 413, "the body is larger than this collector takes", False, "client", "send fewer reports at once"),
    Problem("unsupported-media", 415, "the body has a content type that this route does not read", False, "client", "send application/json or application/msgpack"),
    Problem("outside-domain", 422, "a value outside the domain", False, "caller", "correct the value"),
    Problem("slow-down", 429, "too many requests from here", True, "client", "wait as long as Retry-After says"),
    Problem("busy", 429, "more reports are waiting than the store can take", True, "client", "wait as long as Retry-After says, then send the same bytes"),
    Problem("internal", 500, "an error of the collector", True, "operator", "look into the log for the same moment; report it"),
    Problem("missing-part", 501, "an optional part of the software is not installed", False, "operator", "install the extra that the detail names"),
    Problem("unavailable", 503, "the store cannot write now; nothing was lost", True, "operator", "free the disk or the database; clients send the same bytes again"),
)  # fmt: skip

CATALOGUE = {problem.code: problem for problem in (*REPORTS, *REQUESTS)}

_BY_CLASS: dict[type[SottovoceError], str] = {
    QueryError: "query",
    errors.ParameterError: "invalid",
    errors.DomainError: "outside-domain",
    errors.CodecError: "malformed-request",
    errors.MismatchError: "conflict",
    errors.NoDataError: "no-data",
    errors.MissingExtraError: "missing-part",
    errors.UnavailableError: "unavailable",
    errors.AccessError: "forbidden",
    errors.StateError: "not-ready",
}


# As the errors of the library exit when the command line meets the same obstacle.
_EXITS = {401: errors.AccessError.exit_code, 404: errors.NoDataError.exit_code, 409: errors.StateError.exit_code}


class RequestError(SottovoceError):
    """A whole request turned away for a reason of the catalogue."""

    def __init__(self, code: str, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(detail or CATALOGUE[code].title)
        self.code = code
        self.retry_after = retry_after
        self.status = CATALOGUE[code].status
        self.exit_code = _EXITS.get(self.status, self.exit_code)


def problem_of(error: SottovoceError) -> Problem:
    """Return the row of the catalogue that an error falls under."""
    if isinstance(error, RequestError):
        return CATALOGUE[error.code]
    return CATALOGUE[next((code for kind, code in _BY_CLASS.items() if isinstance(error, kind)), "internal")]


def place(error: SottovoceError) -> dict[str, object]:
    """Return which rule a question breaks, and where; nothing for other errors."""
    if not isinstance(error, QueryError):
        return {}
    return {"rule": error.rule, "line": error.line, "column": error.column}


def document(problem: Problem, detail: str = "") -> dict[str, object]:
    """Return a problem document after RFC 9457."""
    made: dict[str, object] = {
        "type": f"/errors#{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "code": problem.code,
        "retry": problem.retry,
    }
    return {**made, "detail": detail} if detail and detail != problem.title else made


def page() -> str:
    """Return the catalogue as a page of the documentation."""
    head = "# Error catalogue\n\nWritten from the table in the code (`python -m sottovoce.web.problems`).\n"
    reports = "\n## Beside one report of an upload\n\nThe request itself succeeds; these codes stand in `refused`.\n\n"
    requests = "\n## For a whole request\n\nA problem document after RFC 9457 (`application/problem+json`) with these codes.\n\n"
    return head + reports + _table(REPORTS) + requests + _table(REQUESTS)


def _table(problems: Iterable[Problem]) -> str:
    lines = ["| code | status | meaning | try again | who acts | what to do |", "|---|---|---|---|---|---|"]
    for one in problems:
        again = "yes" if one.retry else "no"
        lines.append(
            f'| <a id="{one.code}"></a>`{one.code}` | {one.status} | {one.title} | {again} | {one.actor} | {one.remedy} |'
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
