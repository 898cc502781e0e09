"""HTTP to a collector with the standard library: no cookies, and nothing about the device.

Answers are read strictly and no further than a megabyte.  A task is known by its digest, which is
computed here and not believed.  Proxies of the environment are not used: whoever wants one names it
in the URL.
"""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from sottovoce.errors import (
    AccessError,
    CodecError,
    MismatchError,
    ParameterError,
    SottovoceError,
    UnavailableError,
)
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

MAX_ANSWER_BYTES = 1 << 20
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

    What the collector says has not changed is not fetched again.  ``timeout`` is in seconds.
    """

    def __init__(self, url: str, timeout: float = 10.0) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ParameterError("`url` of a collector must begin with https:// or http://")
        self.url = url.rstrip("/")
        self._timeout = timeout
        self._opener = build_opener(ProxyHandler({}), _SameHost())
        self._known: dict[str, tuple[str, bytes]] = {}

    def task(self, name: str, digest: str | None = None) -> Notice:
        """Return the notice of a task.

        Refuses a document that has another digest than the collector states or the caller expects.
        """
        body, etag = self._fetch(self._path(name))
        notice = codec.notice(codec.parse(body))
        if etag.removeprefix("W/") != f'"{notice.digest}"':
            raise MismatchError("the collector states another digest than its task document has")
        if notice.name != name:
            raise MismatchError("the collector answers with a task of another name")
        if digest not in (None, notice.digest):
            raise MismatchError("the collector offers another task under this name than expected")
        return notice

    def round(self, name: str, digest: str | None = None) -> tuple[str, Round | None]:
        """Return the state of a task and the round that is asked now, if any."""
        body, _ = self._fetch(self._path(name) + "/round")
        content = codec.parse(body)
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
        url = f"{self._path(name)}/reports"
        request = Request(url, json.dumps(content).encode(), headers, method="POST")
        body, _ = self._open(request)
        return _receipt(codec.parse(body), len(messages))

    def _path(self, name: str) -> str:
        return f"{self.url}/v1/tasks/{quote(name, safe='')}"

    def _fetch(self, path: str) -> tuple[bytes, str]:
        """Return the body at a path and its entity tag, from memory if it has not changed."""
        request = Request(path)
        if path in self._known:
            request.add_header("If-None-Match", self._known[path][0])
        body, headers = self._open(request)
        if headers is None:
            etag, body = self._known[path]
            return body, etag
        etag = headers.get("ETag", "")
        if etag:
            self._known[path] = (etag, body)
        return body, etag

    def _open(self, request: Request) -> tuple[bytes, Message | None]:
        """Return body and headers; no headers if the body has not changed since it was fetched."""
        request.add_header("User-Agent", "sottovoce")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return _bounded(answer), answer.headers
        except HTTPError as error:
            with error:
                if error.code == 304 and request.has_header("If-none-match"):
                    return b"", None
                raise _problem(error) from None
        except (OSError, HTTPException) as error:
            raise UnavailableError("the collector cannot be reached: try again later") from error


class _SameHost(HTTPRedirectHandler):
    """Follows redirections of GET requests within one host, and no others."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        old = urlsplit(req.full_url)
        new = urlsplit(newurl)
        same_host = (new.scheme, new.netloc) == (old.scheme, old.netloc)
        if not same_host or req.get_method() != "GET":
            fp.close()
            raise MismatchError("the collector sends this device elsewhere, and it does not go")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _bounded(answer: Any) -> bytes:
    body: bytes = answer.read(MAX_ANSWER_BYTES + 1)
    if len(body) > MAX_ANSWER_BYTES:
        raise CodecError(f"an answer of a collector may have at most {MAX_ANSWER_BYTES} bytes")
    return body


def _problem(error: HTTPError) -> SottovoceError:
    """Return the error for a refused request, with the title of its problem document."""
    if error.code == 429 or error.code >= 500:
        seconds = error.headers.get("Retry-After", "")
        wait = float(seconds) if re.fullmatch(r"\d{1,9}", seconds) else None
        return UnavailableError("the collector cannot serve now: try again later", wait)
    return _ERRORS.get(error.code, MismatchError)(
        f"the collector refuses the request: {_title(error)}"
    )


def _title(error: HTTPError) -> str:
    if error.headers.get_content_type() != "application/problem+json":
        return f"status {error.code}"
    try:
        title = codec.parse(_bounded(error)).get("title")
    except (SottovoceError, OSError, HTTPException):
        title = None
    text = title if isinstance(title, str) and title.isprintable() else f"status {error.code}"
    return text[:_MAX_TEXT]


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
