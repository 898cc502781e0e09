"""A collector over HTTP, for analysts and operators: tasks, answers and SQL.

    collector = sv.Collector("https://reports.example.org", token)
    collector.answer("browser").frame()
    collector.sql("SELECT city, COUNT(*) FROM people GROUP BY city", task="people")

An answer is what the collector released, as ``ExportedAnswer``.  Errors are those of the library,
with what the collector says about them.  ``AsyncCollector`` offers the same to asynchronous
programs.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from sottovoce.answers.exported import ExportedAnswer
from sottovoce.client.transport import BusyError, HttpAnswer, HttpApi, HttpRequest
from sottovoce.core.located import LocatedError
from sottovoce.core.too_few_users import TooFewUsersError
from sottovoce.errors import (
    AccessError,
    CodecError,
    MismatchError,
    NoDataError,
    ParameterError,
    SottovoceError,
    StateError,
)
from sottovoce.wire import codec

if TYPE_CHECKING:
    from sottovoce.tasks.task import Task

DEFAULT_TIMEOUT = 120.0  # seconds: a query may take a minute
MAX_ANSWER_BYTES = 1 << 30
_ERRORS: dict[str, type[SottovoceError]] = {
    "conflict": MismatchError,
    "forbidden": AccessError,
    "invalid": ParameterError,
    "no-data": NoDataError,
    "not-found": NoDataError,
    "not-ready": StateError,
    "query": ParameterError,
    "too-few-users": NoDataError,
    "unauthenticated": AccessError,
    "would-fail": TooFewUsersError,
}


@dataclass(frozen=True)
class RemoteCollector:
    """A collector at a ``url``; ``token`` is that of an analyst, or of an operator.

    ``timeout`` is for a whole exchange, in seconds.
    """

    url: str
    token: str = field(default="", repr=False)
    timeout: float = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        AnalystApi(self.url, self.timeout)  # refuses an address that is not protected on its way

    def tasks(self) -> list[dict[str, Any]]:
        """Return name, digest, description, epsilon and state of every task."""
        tasks: list[dict[str, Any]] = self._get("tasks")["tasks"]
        return tasks

    def task(self, name: str) -> "Task":
        """Return a task as it is published."""
        return codec.task(self._get("tasks", name))

    def status(self, name: str) -> dict[str, Any]:
        """Return the progress of a task: state, rounds, users, arrivals."""
        return self._get("tasks", name, "status")

    def answer(
        self,
        name: str,
        *,
        method: str = "none",
        level: float = 0.95,
        marginal: Sequence[str] = (),
        **options: Any,
    ) -> ExportedAnswer:
        """Return the answer to a task.

        ``method`` is a step of post-processing, ``marginal`` names the attributes of a joint table.
        Further options are ``fakes``, a share of false reports that bounds allow for, and
        ``defence``, which may be ``auto``.
        """
        asked = {"method": method, "level": level, "marginal": list(marginal), **options}
        given = {key: entry for key, entry in asked.items() if entry not in (None, [])}
        return ExportedAnswer(self._get("tasks", name, "answer", query=given))

    def sql(
        self,
        query: str,
        *,
        task: str,
        level: float | None = None,
        users: int | None = None,
        fakes: float | None = None,
    ) -> ExportedAnswer:
        """Return the answer to a query, or how it would be answered if it begins with EXPLAIN."""
        asked = {"task": task, "sql": query, "level": level, "users": users, "fakes": fakes}
        given = {key: entry for key, entry in asked.items() if entry is not None}
        try:
            return ExportedAnswer(self._send("POST", ("sql",), json.dumps(given).encode()))
        except LocatedError as error:
            raise LocatedError(str(error), error.line, error.column, query) from None

    def integrity(self, name: str) -> dict[str, Any]:
        """Return what the tests of all sealed rounds of a task said."""
        return self._get("tasks", name, "integrity")

    def publish(self, task: "Task | str | Path") -> dict[str, Any]:
        """Publish a task, or the task in a TOML or JSON file; needs the token of an operator."""
        if isinstance(task, (str, Path)):
            content = Path(task).read_bytes()
            kind = "application/toml" if Path(task).suffix == ".toml" else "application/json"
        else:
            content = codec.canonical(codec.document(task)).encode()
            kind = "application/json"
        return self._send("POST", ("tasks",), content, kind)

    def close(self, name: str, *, at_once: bool = False, force: bool = False) -> dict[str, Any]:
        """Close the open round of a task; needs the token of an operator."""
        query = {"at_once": str(at_once).lower(), "force": str(force).lower()}
        return self._send("POST", ("tasks", name, "close"), b"", query=query)

    def issue_tokens(
        self, scope: str, *, count: int = 1, label: str = "", days: int | None = None
    ) -> list[str]:
        """Return new tokens; needs the token of an operator."""
        asked = {"scope": scope, "count": count, "label": label, "days": days}
        given = {key: entry for key, entry in asked.items() if entry is not None}
        tokens: list[str] = self._send("POST", ("tokens",), json.dumps(given).encode())["tokens"]
        return tokens

    def tokens(self) -> list[dict[str, Any]]:
        """Return id, scope, label and end of every token of an operator or an analyst."""
        tokens: list[dict[str, Any]] = self._get("tokens")["tokens"]
        return tokens

    def revoke_token(self, identity: str) -> None:
        """Revoke the token with this id."""
        self._send("DELETE", ("tokens", identity), b"")

    @cached_property
    def _api(self) -> "AnalystApi":
        return AnalystApi(self.url, self.timeout)

    def _get(self, *parts: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._api.exchanged("GET", _address(parts, query), self._headers)

    def _send(
        self,
        method: str,
        parts: Sequence[str],
        body: bytes,
        content_type: str = "application/json",
        query: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        headers = {**self._headers, "Content-Type": content_type}
        return self._api.exchanged(method, _address(parts, query), headers, body)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@dataclass(frozen=True)
class AsyncCollector:
    """The same collector for asynchronous programs: every exchange runs in a thread of its own."""

    url: str
    token: str = field(default="", repr=False)
    timeout: float = DEFAULT_TIMEOUT

    @cached_property
    def _collector(self) -> RemoteCollector:
        return RemoteCollector(self.url, self.token, self.timeout)

    async def tasks(self) -> list[dict[str, Any]]:
        """Return name, digest, description, epsilon and state of every task."""
        return await asyncio.to_thread(self._collector.tasks)

    async def task(self, name: str) -> "Task":
        """Return a task as it is published."""
        return await asyncio.to_thread(self._collector.task, name)

    async def status(self, name: str) -> dict[str, Any]:
        """Return the progress of a task."""
        return await asyncio.to_thread(self._collector.status, name)

    async def answer(self, name: str, **options: Any) -> ExportedAnswer:
        """Return the answer to a task; takes the options of ``RemoteCollector.answer``."""
        return await asyncio.to_thread(partial(self._collector.answer, name, **options))

    async def sql(self, query: str, *, task: str, **options: Any) -> ExportedAnswer:
        """Return the answer to a query; takes the options of ``RemoteCollector.sql``."""
        return await asyncio.to_thread(partial(self._collector.sql, query, task=task, **options))

    async def integrity(self, name: str) -> dict[str, Any]:
        """Return what the tests of all sealed rounds of a task said."""
        return await asyncio.to_thread(self._collector.integrity, name)

    async def issue_tokens(self, scope: str, **options: Any) -> list[str]:
        """Return new tokens; takes the options of ``RemoteCollector.issue_tokens``."""
        return await asyncio.to_thread(partial(self._collector.issue_tokens, scope, **options))

    async def tokens(self) -> list[dict[str, Any]]:
        """Return id, scope, label and end of every token of an operator or an analyst."""
        return await asyncio.to_thread(self._collector.tokens)

    async def revoke_token(self, identity: str) -> None:
        """Revoke the token with this id."""
        await asyncio.to_thread(self._collector.revoke_token, identity)

    async def publish(self, task: "Task | str | Path") -> dict[str, Any]:
        """Publish a task, or the task in a file."""
        return await asyncio.to_thread(self._collector.publish, task)

    async def close(self, name: str, **options: bool) -> dict[str, Any]:
        """Close the open round of a task; takes the options of ``RemoteCollector.close``."""
        return await asyncio.to_thread(partial(self._collector.close, name, **options))


class AnalystApi(HttpApi):
    """Requests of analysts: long answers, and refusals with what the collector says about them."""

    server = "the collector"
    max_answer_bytes = MAX_ANSWER_BYTES

    def exchanged(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> dict[str, Any]:
        """Return the JSON object that is the answer to a request."""
        request = HttpRequest(method, self.base_path + path, dict(headers), body)
        answer = self._exchange(request)
        if answer.status == HTTPStatus.NO_CONTENT:
            return {}
        try:
            content = json.loads(answer.body)
        except ValueError:
            raise CodecError("the collector's answer must be JSON") from None
        if not isinstance(content, dict):
            raise CodecError("the collector's answer must be a JSON object")
        return content

    def _refusal(self, answer: HttpAnswer) -> SottovoceError:
        refusal = super()._refusal(answer)
        try:
            problem = json.loads(answer.body)
            said = str(problem.get("detail") or problem["title"])
            error = _ERRORS.get(problem["code"], type(refusal))
            line = problem.get("line")
            column = problem.get("column")
        except (ValueError, LookupError, AttributeError):
            return refusal
        if isinstance(refusal, BusyError):
            return BusyError(f"the collector cannot serve now: {said}", refusal.retry_after)
        message = f"the collector refuses the request: {said}"
        if type(line) is int and type(column) is int and line > 0 and column > 0:
            return LocatedError(message, line, column)
        return error(message)


def _address(parts: Sequence[str], query: Mapping[str, Any] | None) -> str:
    path = "/".join(quote(part, safe="") for part in ("v1", *parts))
    return f"/{path}?{urlencode(query, doseq=True)}" if query else f"/{path}"
