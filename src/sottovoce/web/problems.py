"""The catalogue of problems: code, status, meaning, whether to retry, who has to act and how.

docs/errors.md is written from this table.  A ``RequestError`` carries a code; the other errors of
the library map to a code by their class.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from sottovoce import errors
from sottovoce.core.too_few_users import TooFewUsersError
from sottovoce.errors import SottovoceError
from sottovoce.sql.errors import QueryError


@dataclass(frozen=True)
class Problem:
    """One row of the catalogue; status 200 marks the codes for single messages of an upload."""

    code: str
    status: int
    title: str
    retry: bool
    actor: str
    remedy: str


REPORTS = (
    Problem(
        "malformed", 200, "not an envelope of the version that this task's messages have",
        False, "client", "drop it; update the client",
    ),
    Problem(
        "other-task", 200, "a report for another task, or for another version of this task",
        False, "client", "fetch the task again; this report cannot be counted",
    ),
    Problem(
        "undeclared", 200,
        "fields that the task does not declare, or missing ones that it declares",
        False, "client", "drop it; update the client",
    ),
    Problem(
        "incomplete", 200,
        "not exactly one report for each slot, all with the same subject and public part",
        False, "client", "send the whole message as it was made",
    ),
    Problem(
        "impossible", 200,
        "a payload that the mechanism cannot produce,"
        " or a public part that does not fit the task",
        False, "client", "drop it; update the client",
    ),
    Problem(
        "conflicting", 200, "some reports of this message were sent before in another message",
        False, "client", "send the whole message as it was made",
    ),
    Problem(
        "too-early", 200, "the round is not open yet",
        True, "client", "send the same bytes later",
    ),
    Problem(
        "too-late", 200, "the round is sealed and accepts no more reports",
        False, "client", "drop it; it cannot be counted any more",
    ),
    Problem(
        "not-asked", 200, "the coin of this token assigns another round or question",
        False, "client", "answer the question that the coin assigns",
    ),
    Problem(
        "token-missing", 200, "this task needs an enrolment token",
        False, "client", "enrol first, then send the same bytes",
    ),
    Problem(
        "not-shuffled", 200, "reports of this task must come through its shufflers",
        False, "client", "drop it; send sealed messages to the first hop that the task names",
    ),
    Problem(
        "token-unknown", 200,
        "the token is unknown, expired or revoked, or not signed for this task",
        False, "operator", "issue a token",
    ),
    Problem(
        "token-spent", 200, "the token was used for another message",
        False, "client", "drop it; one token is good for one message per task",
    ),
)  # fmt: skip

REQUESTS = (
    Problem(
        "malformed-request", 400, "the body does not have the documented form",
        False, "client", "compare the request with the OpenAPI document",
    ),
    Problem(
        "invalid", 400, "a setting is not allowed",
        False, "caller", "change the setting that the detail names",
    ),
    Problem(
        "query", 400, "the SQL query cannot be answered as it is written",
        False, "analyst", "correct it: `rule`, `line` and `column` say what is wrong and where",
    ),
    Problem(
        "unauthenticated", 401, "a token is needed",
        False, "caller", "send `Authorization: Bearer TOKEN`",
    ),
    Problem(
        "forbidden", 403, "the token does not allow this",
        False, "operator", "use a token of the scope that the detail names",
    ),
    Problem(
        "bad-signature", 403, "this is not signed by the hop that the task's document names",
        False, "operator", "compare the key of the hop with the one in the document",
    ),
    Problem(
        "token-refused", 403, "the enrolment token buys no signature for this task",
        False, "client", "ask the operator for a token; one token buys one signature per task",
    ),
    Problem(
        "not-found", 404, "there is no such task or page",
        False, "caller", "list the tasks at /v1/tasks",
    ),
    Problem(
        "no-data", 404, "there are no reports to answer from",
        False, "analyst", "wait for reports",
    ),
    Problem(
        "method-not-allowed", 405, "this address does not support this method",
        False, "caller", "see the OpenAPI document",
    ),
    Problem(
        "not-acceptable", 406, "the answer is not available in this format",
        False, "caller", "accept application/json or text/csv",
    ),
    Problem(
        "too-slow", 408, "the body did not arrive in time",
        True, "client", "send it again; send fewer reports at once over a slow connection",
    ),
    Problem(
        "conflict", 409, "two things contradict each other, such as two tasks of one name",
        False, "caller", "published tasks never change: publish under another name",
    ),
    Problem(
        "not-ready", 409, "the task is not in the required state",
        True, "analyst", "wait until its rounds are sealed",
    ),
    Problem(
        "would-fail", 409, "too few users have answered: closed now, the task fails for ever",
        True, "operator", "wait for more users, or close it all the same with `force=true`",
    ),
    Problem(
        "too-few-users", 409, "fewer users than the task's minimum: nothing is released",
        False, "operator", "ask more people with a new task",
    ),
    Problem(
        "too-large", 413, "the body is larger than this collector allows",
        False, "client", "send fewer reports at once",
    ),
    Problem(
        "unsupported-media", 415, "the content type of the body is not supported here",
        False, "client", "send application/json or application/msgpack",
    ),
    Problem(
        "outside-domain", 422, "a value lies outside the domain",
        False, "caller", "correct the value",
    ),
    Problem(
        "slow-down", 429, "too many reports or requests from this address",
        True, "client", "wait as long as Retry-After says",
    ),
    Problem(
        "busy", 429, "too many reports are waiting, or too many bytes are being received",
        True, "client", "wait as long as Retry-After says, then send the same bytes",
    ),
    Problem(
        "too-many-queries", 429, "too many queries of this token are waiting",
        True, "analyst", "wait for the answers to the others; one query of a token runs at a time",
    ),
    Problem(
        "disconnected", 499, "the client has gone before the answer was ready",
        True, "client", "keep the connection until the answer comes",
    ),
    Problem(
        "internal", 500, "an error inside the collector",
        True, "operator", "find the time of the request in the log, and report the error",
    ),
    Problem(
        "missing-part", 501, "an optional part of Sottovoce is not installed",
        False, "operator", "install the extra that the detail names",
    ),
    Problem(
        "unavailable", 503, "the store cannot write at the moment; nothing was lost",
        True, "operator",
        "make room on the disk or restore the database; clients send the same bytes again",
    ),
    Problem(
        "query-timeout", 503, "the query was not answered in time",
        True, "analyst",
        "ask for fewer numbers or groups, or ask the operator for more time"
        " (SOTTOVOCE_QUERY_SECONDS)",
    ),
)  # fmt: skip

CATALOGUE = {problem.code: problem for problem in (*REPORTS, *REQUESTS)}

_BY_CLASS: dict[type[SottovoceError], str] = {
    QueryError: "query",
    TooFewUsersError: "would-fail",
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


# The exit codes that the command line uses for the corresponding errors of the library.
_EXITS = {
    401: errors.AccessError.exit_code,
    404: errors.NoDataError.exit_code,
    409: errors.StateError.exit_code,
}


class RequestError(SottovoceError):
    """A request that is refused for a reason in the catalogue."""

    def __init__(self, code: str, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(detail or CATALOGUE[code].title)
        self._made_from = (code, detail, retry_after)
        self.code = code
        self.retry_after = retry_after
        self.status = CATALOGUE[code].status
        self.exit_code = _EXITS.get(self.status, self.exit_code)

    def __reduce__(self) -> tuple[type["RequestError"], tuple[object, ...]]:
        return type(self), self._made_from  # errors travel between processes


def problem_of(error: SottovoceError) -> Problem:
    """Return the row of the catalogue for an error."""
    if isinstance(error, RequestError):
        return CATALOGUE[error.code]
    return CATALOGUE[
        next((code for kind, code in _BY_CLASS.items() if isinstance(error, kind)), "internal")
    ]


def place(error: SottovoceError) -> dict[str, object]:
    """Return which rule a SQL query breaks, and where; nothing for other errors."""
    if not isinstance(error, QueryError):
        return {}
    return {"rule": error.rule, "line": error.line, "column": error.column}


def document(problem: Problem, detail: str = "", root_path: str = "") -> dict[str, object]:
    """Return a problem document after RFC 9457.

    ``root_path`` is where a proxy serves the service, and with it the page that explains the type.
    """
    content: dict[str, object] = {
        "type": f"{root_path}/errors#{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "code": problem.code,
        "retry": problem.retry,
    }
    return {**content, "detail": detail} if detail and detail != problem.title else content


_PAGE = """\
# Error catalogue

Written from the code (`python -m sottovoce.web.problems`, part of `make docs`).

## For one message of an upload

The request itself succeeds; `refused` lists these codes.

{reports}
## For a whole request

The response is a problem document (RFC 9457, `application/problem+json`) with one of these codes.

{requests}"""


_HTML_PAGE = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Error catalogue</title></head>
<body><main><h1>Error catalogue</h1>
<table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th>
<th scope="col">Retry</th><th scope="col">Who acts</th><th scope="col">What to do</th></tr></thead>
<tbody>{rows}</tbody></table></main></body>
</html>
"""


def page() -> str:
    """Return the catalogue as a page of the documentation."""
    return _PAGE.format(reports=_table(REPORTS), requests=_table(REQUESTS))


def html_page() -> str:
    """Return the catalogue as a page for browsers; every code is an anchor."""
    rows = "".join(
        f'<tr id="{problem.code}"><th scope="row"><code>{problem.code}</code></th>'
        f"<td>{problem.status}</td><td>{escape(problem.title)}</td>"
        f"<td>{'yes' if problem.retry else 'no'}</td><td>{escape(problem.actor)}</td>"
        f"<td>{escape(problem.remedy)}</td></tr>"
        for problem in CATALOGUE.values()
    )
    return _HTML_PAGE.format(rows=rows)


def _table(problems: Iterable[Problem]) -> str:
    lines = [
        "| code | status | meaning | retry | who acts | what to do |",
        "|---|---|---|---|---|---|",
    ]
    for problem in problems:
        code = f'<a id="{problem.code}"></a>`{problem.code}`'
        retry = "yes" if problem.retry else "no"
        cells = (code, str(problem.status), problem.title, retry, problem.actor, problem.remedy)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
