"""HTTP to a collector with the standard library: no cookies, and nothing about the device.

Answers are read strictly, no further than a megabyte and no longer than one deadline.  A task is
known by its digest, which is computed here and not believed.  That digest is also the only thing
that a request repeats of an earlier answer: an entity tag of the collector's choice would tell
devices apart.  Redirections are not followed, and proxies of the environment are not used: whoever
wants one names it in the URL.
"""

import json
import re
import ssl
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import Message
from functools import cached_property
from http.client import HTTPException
from typing import Any
from urllib.parse import quote

from sottovoce.client.deadline import Deadline, DeadlineConnection
from sottovoce.core import bounds, settings
from sottovoce.core.addresses import protected_url
from sottovoce.errors import (
    AccessError,
    CodecError,
    MismatchError,
    SottovoceError,
    UnavailableError,
)
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

DEFAULT_TIMEOUT = 30.0  # seconds
MAX_ANSWER_BYTES = bounds.MAX_DOCUMENT_BYTES
STATES = ("open", "closing", "sealed", "finished")

_MAX_TEXT = 200  # characters of a title or a code
_ERRORS: dict[int, type[SottovoceError]] = {
    400: CodecError,
    401: AccessError,
    403: AccessError,
    413: CodecError,
    415: CodecError,
    422: CodecError,
}


class BusyError(UnavailableError):
    """The collector was reached and cannot serve now."""


@dataclass(frozen=True)
class RefusedReport:
    """A report that the collector did not take.

    ``index`` says which one of the request it is, ``code`` why it was refused, and ``retry``
    whether the same bytes may succeed later.
    """

    index: int
    code: str
    retry: bool


@dataclass(frozen=True)
class Receipt:
    """What the collector says about the reports in one request."""

    accepted: int
    duplicates: int
    refused: tuple[RefusedReport, ...] = ()


class CollectorApi:
    """The HTTP interface of one collector.

    ``url`` begins with https://, or with http:// for an address of this machine.  ``timeout`` is
    for a whole exchange, from connecting to the last byte of the answer, in seconds.  A task
    document that has not changed is not fetched again.
    """

    def __init__(self, url: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._parts = protected_url("url", url)
        self._timeout = settings.positive("timeout", timeout)
        self.url = url.rstrip("/")
        self._known: dict[str, Notice] = {}

    def task(self, name: str) -> Notice:
        """Return the notice of a task; refuse one of another name, or with a wrong digest."""
        known = self._known.get(name)
        request = _Request("GET", self._path(name))
        if known is not None:
            request.headers["If-None-Match"] = f'"{known.digest}"'
        answer = self._exchange(request)
        if answer.status == 304 and known is not None:
            return known
        notice = codec.notice(codec.parse(answer.body))
        if answer.headers.get("ETag", "").removeprefix("W/") != f'"{notice.digest}"':
            raise MismatchError("the collector states another digest than its task document has")
        if notice.name != name:
            raise MismatchError("the collector answers with a task of another name")
        self._known[name] = notice
        return notice

    def round(self, name: str, digest: str | None = None) -> tuple[str, Round | None]:
        """Return the state of a task and the round that is asked now, if any."""
        content = codec.parse(self._exchange(_Request("GET", self._path(name) + "/round")).body)
        if set(content) != {"digest", "state", "round"}:
            raise CodecError("the collector's answer must have a digest, a state and a round")
        state = content["state"]
        if state not in STATES:
            raise CodecError(f"the state of a task must be one of {', '.join(STATES)}")
        if digest not in (None, content["digest"]):
            raise MismatchError("the collector asks a round of another task than expected")
        asked = content["round"]
        return state, None if asked is None else codec.round_(asked)

    def send(self, name: str, messages: Sequence[bytes], tokens: Sequence[str] = ()) -> Receipt:
        """Send messages, with a token for each if the task needs one."""
        content: dict[str, Any] = {"reports": [b64encode(message).decode() for message in messages]}
        if tokens:
            content["tokens"] = list(tokens)
        headers = {"Content-Type": "application/json"}
        request = _Request(
            "POST", f"{self._path(name)}/reports", headers, json.dumps(content).encode()
        )
        return _receipt(codec.parse(self._exchange(request).body), len(messages))

    @cached_property
    def _tls(self) -> ssl.SSLContext | None:
        return ssl.create_default_context() if self._parts.scheme == "https" else None

    def _path(self, name: str) -> str:
        return f"{self._parts.path.rstrip('/')}/v1/tasks/{quote(name, safe='')}"

    def _exchange(self, request: "_Request") -> "_Answer":
        """Return what the collector answers, or raise the error that its status stands for."""
        deadline = Deadline(self._timeout)
        host = self._parts.hostname or ""
        connection = DeadlineConnection(host, self._parts.port, deadline, self._tls)
        headers = {"User-Agent": "sottovoce", "Connection": "close", **request.headers}
        try:
            connection.request(request.method, request.path, request.body, headers)
            with connection.getresponse() as response:
                body = response.read(MAX_ANSWER_BYTES + 1)
                answer = _Answer(response.status, response.headers, body)
        except (OSError, HTTPException) as error:
            raise UnavailableError("the collector cannot be reached: try again later") from error
        finally:
            connection.close()
        if answer.status == 304 and "If-None-Match" in request.headers:
            return answer
        if not 200 <= answer.status < 300:
            raise _problem(answer)
        if len(answer.body) > MAX_ANSWER_BYTES:
            raise CodecError(f"an answer of a collector may have at most {MAX_ANSWER_BYTES} bytes")
        return answer


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Message
    body: bytes


def _problem(answer: _Answer) -> SottovoceError:
    """Return the error for a refused request, with the title of its problem document."""
    if 300 <= answer.status < 400:
        return MismatchError("the collector sends this device elsewhere, and it does not go")
    if answer.status == 429 or answer.status >= 500:
        seconds = answer.headers.get("Retry-After", "")
        wait = float(seconds) if re.fullmatch(r"[0-9]{1,9}", seconds) else None
        return BusyError("the collector cannot serve now: try again later", wait)
    return _ERRORS.get(answer.status, MismatchError)(
        f"the collector refuses the request: {_title(answer)}"
    )


def _title(answer: _Answer) -> str:
    """Return the title of a problem document, if it has a decent one, or the status."""
    fallback = f"status {answer.status}"
    if answer.headers.get_content_type() != "application/problem+json":
        return fallback
    try:
        title = codec.parse(answer.body).get("title")
        return settings.plain_text("title", title, MAX_ANSWER_BYTES)[:_MAX_TEXT]
    except SottovoceError:
        return fallback


def _receipt(content: codec.Document, sent: int) -> Receipt:
    """Return the receipt for so many reports, or refuse an answer that is none."""
    accepted = _count(content, "accepted")
    duplicates = _count(content, "duplicates")
    listed = content.get("refused")
    if not isinstance(listed, list):
        raise CodecError("`refused` in the collector's answer must be a list")
    refused = tuple(_refused(entry, sent) for entry in listed)
    if accepted + duplicates + len(refused) != sent:
        raise CodecError("the collector's answer does not say what became of every report")
    return Receipt(accepted, duplicates, refused)


def _count(content: codec.Document, name: str) -> int:
    count = content.get(name)
    if type(count) is not int or count < 0:
        raise CodecError(f"`{name}` in the collector's answer must be a whole number from 0 up")
    return count


def _refused(content: Any, sent: int) -> RefusedReport:
    entry = content if isinstance(content, dict) else {}
    index = entry.get("index")
    code = entry.get("code")
    retry = entry.get("retry")
    if type(index) is not int or not 0 <= index < sent:
        raise CodecError("`index` of a refused report must be that of a report in the request")
    if not isinstance(code, str):
        raise CodecError("`code` of a refused report must be text")
    if not isinstance(retry, bool):
        raise CodecError("`retry` of a refused report must be true or false")
    return RefusedReport(index, code[:_MAX_TEXT], retry)
