"""The way to a collector: HTTP with the standard library, no cookies, no other hosts, nothing about the device.

What comes back is read strictly and no further than a megabyte.  A task is known by its digest, which is computed
here and not believed.  Proxies of the environment are not used: whoever wants one names it in the URL.
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

LARGEST_ANSWER = 1 << 20
STATES = ("open", "closing", "sealed", "finished")

_LONGEST_TITLE = 200
_REFUSALS: dict[int, type[SottovoceError]] = {
    400: CodecError,
    401: AccessError,
    403: AccessError,
    413: CodecError,
    415: CodecError,
    422: CodecError,
}


@dataclass(frozen=True)
class Refusal:
    """A report that the collector did not take: its place in the request, why, and whether to try again."""

    index: int
    code: str
    retry: bool


@dataclass(frozen=True)
class Receipt:
    """What the collector says of the reports in one request."""

    accepted: int
    duplicates: int
    refused: tuple[Refusal, ...] = ()


class Collector:
    """One collector; answers that it says have not changed are not fetched again."""

    def __init__(self, url: str, timeout: float = 10.0) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ParameterError("a collector has an address that starts with https:// or http://")
        self.url = url.rstrip("/")
        self._timeout = timeout
        self._opener = build_opener(ProxyHandler({}), _SameHost())
        self._known: dict[str, tuple[str, bytes]] = {}

    def task(self, name: str, digest: str | None = None) -> Notice:
        """Return the notice of a task; refuses a document that is not what its digest, stated or pinned, says."""
        body, etag = self._fetch(self._path(name))
        notice = codec.notice(codec.parse(body))
        if etag.removeprefix("W/") != f'"{notice.digest}"' or notice.name != name:
            raise MismatchError("the collector states another digest or name than its task document has")
        if digest not in (None, notice.digest):
            raise MismatchError("the collector offers another task under this name than the one expected")
        return notice

    def round(self, name: str, digest: str | None = None) -> tuple[str, Round | None]:
        """Return the state of a task and the round that is asked now, if any."""
        body, _ = self._fetch(self._path(name) + "/round")
        content = codec.parse(body)
        state, asked = content.get("state"), content.get("round")
        if set(content) != {"digest", "state", "round"} or state not in STATES:
            raise CodecError("the collector's answer is not the state of a task and its round")
        if digest not in (None, content["digest"]):
            raise MismatchError("the collector asks a round of another task than the one expected")
        return state, None if asked is None else codec.round_(asked)

    def send(self, name: str, messages: Sequence[bytes], tokens: Sequence[str] = ()) -> Receipt:
        """Hand over messages, with a token for each if the task needs one."""
        content: dict[str, Any] = {"reports": [b64encode(message).decode() for message in messages]}
        if tokens:
            content["tokens"] = list(tokens)
        headers = {"Content-Type": "application/json"}
        request = Request(f"{self._path(name)}/reports", json.dumps(content).encode(), headers, method="POST")
        body, _ = self._open(request)
        return _receipt(codec.parse(body), len(messages))

    def _path(self, name: str) -> str:
        return f"{self.url}/v1/tasks/{quote(name, safe='')}"

    def _fetch(self, path: str) -> tuple[bytes, str]:
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
        """Return body and headers, or no headers if nothing has changed."""
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
    """Follows where the same host leads, and nowhere with reports in hand."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        there, here = urlsplit(newurl), urlsplit(req.full_url)
        if (there.scheme, there.netloc) != (here.scheme, here.netloc) or req.get_method() != "GET":
            fp.close()
            raise MismatchError("the collector sends this device elsewhere, and it does not go")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _bounded(answer: Any) -> bytes:
    body: bytes = answer.read(LARGEST_ANSWER + 1)
    if len(body) > LARGEST_ANSWER:
        raise CodecError(f"an answer of a collector has at most {LARGEST_ANSWER} bytes")
    return body


def _problem(error: HTTPError) -> SottovoceError:
    """Return the error that a refused request stands for, with the title of its problem document."""
    if error.code == 429 or error.code >= 500:
        seconds = error.headers.get("Retry-After", "")
        wait = float(seconds) if re.fullmatch(r"\d{1,9}", seconds) else None
        return UnavailableError("the collector cannot serve now: try again later", wait)
    return _REFUSALS.get(error.code, MismatchError)(f"the collector refuses the request: {_title(error)}")


def _title(error: HTTPError) -> str:
    if error.headers.get_content_type() != "application/problem+json":
        return f"status {error.code}"
    try:
        title = codec.parse(_bounded(error)).get("title")
    except (SottovoceError, OSError, HTTPException):
        title = None
    text = title if isinstance(title, str) and title.isprintable() else f"status {error.code}"
    return text[:_LONGEST_TITLE]


def _receipt(content: codec.Document, sent: int) -> Receipt:
    counts, listed = (content.get("accepted"), content.get("duplicates")), content.get("refused")
    if not all(type(count) is int and count >= 0 for count in counts) or not isinstance(listed, list):
        raise CodecError("the collector's answer does not say what became of the reports")
    receipt = Receipt(*counts, tuple(_refusal(one, sent) for one in listed))  # type: ignore[arg-type]
    if receipt.accepted + receipt.duplicates + len(receipt.refused) != sent:
        raise CodecError("the collector's answer does not say what became of every report")
    return receipt


def _refusal(content: Any, sent: int) -> Refusal:
    entry = content if isinstance(content, dict) else {}
    index, code, retry = (entry.get(name) for name in ("index", "code", "retry"))
    if type(index) is not int or not 0 <= index < sent or not isinstance(code, str) or not isinstance(retry, bool):
        raise CodecError("the collector's answer does not say why it refused a report")
    return Refusal(index, code[:_LONGEST_TITLE], retry)
