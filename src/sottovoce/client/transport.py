"""HTTP to a collector or a shuffler: no cookies, and nothing about the device.

Answers are read strictly, no further than a megabyte and no longer than one deadline.  A task is
known by its digest, which is computed here and not believed.  That digest is also the only thing
that a request repeats of an earlier answer: an entity tag of the collector's choice would tell
devices apart.  Redirections are not followed, and proxies of the environment are not used: whoever
wants one names it in the URL.

A device fetches everything from the collector: the task, the round, the keys of a shuffled round
and its blind token.  A shuffler gets the sealed message and is asked nothing.
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
from sottovoce.core.base64url import text_of
from sottovoce.errors import (
    AccessError,
    CodecError,
    MismatchError,
    SottovoceError,
    StateError,
    UnavailableError,
)
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import MAX_HOPS
from sottovoce.wire import codec
from sottovoce.wire.round_keys import SignedKey, answered_bytes, read_signed_keys
from sottovoce.wire.signatures import SIGNATURE_BYTES
from sottovoce.wire.tokens import MODULUS_BYTES

DEFAULT_TIMEOUT = 30.0  # seconds
MAX_ANSWER_BYTES = bounds.MAX_DOCUMENT_BYTES
STATES = ("open", "closing", "sealed", "finished")

_MAX_TEXT = 200  # characters of a title or a code
_KEY_FIELDS = frozenset({"digest", "round", "keys", "set_signatures"})
_ERRORS: dict[int, type[SottovoceError]] = {
    400: CodecError,
    401: AccessError,
    403: AccessError,
    413: CodecError,
    415: CodecError,
    422: CodecError,
}
_ERRORS_OF_CODES: dict[str, type[SottovoceError]] = {
    "not-ready": StateError,
    "token-missing": AccessError,
    "token-unknown": AccessError,
    "token-spent": AccessError,
}


class BusyError(UnavailableError):
    """The server was reached and cannot serve now."""


@dataclass(frozen=True)
class RefusedReport:
    """A report that the server did not take.

    ``index`` says which one of the request it is, ``code`` why it was refused, and ``retry``
    whether the same bytes may succeed later.
    """

    index: int
    code: str
    retry: bool


@dataclass(frozen=True)
class Receipt:
    """What the server says about the reports in one request."""

    accepted: int
    duplicates: int
    refused: tuple[RefusedReport, ...] = ()


@dataclass(frozen=True)
class RoundKeys:
    """The keys of a round in the order of the hops, the collector's last: not verified yet.

    ``set_signatures`` are those of the hops on all keys together.  ``opened`` is when the round
    opened, in seconds since 1970, if the collector says it.
    """

    keys: tuple[SignedKey, ...]
    set_signatures: tuple[bytes, ...]
    opened: int | None = None


class HttpApi:
    """One server, and how requests to it are made and answered.

    ``url`` begins with https://, or with http:// for an address of this machine.  ``timeout`` is
    for a whole exchange, from connecting to the last byte of the answer, in seconds.
    """

    server = "the server"  # what errors call it
    max_answer_bytes = MAX_ANSWER_BYTES

    def __init__(self, url: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._parts = protected_url("url", url)
        self._timeout = settings.positive("timeout", timeout)
        self.url = url.rstrip("/")

    @property
    def base_path(self) -> str:
        """Return the path of the server's address, without a slash at its end."""
        return self._parts.path.rstrip("/")

    def _path(self, *parts: str) -> str:
        """Return the path of something that belongs to a task."""
        quoted = "/".join(quote(part, safe="") for part in parts)
        return f"{self.base_path}/v1/tasks/{quoted}"

    def _post(self, path: str, content: dict[str, Any]) -> codec.Document:
        """Send JSON and return the object that is the answer."""
        headers = {"Content-Type": "application/json"}
        request = HttpRequest("POST", path, headers, json.dumps(content).encode())
        return codec.parse(self._exchange(request).body)

    def _post_messages(
        self, path: str, messages: Sequence[bytes], tokens: Sequence[str] = ()
    ) -> Receipt:
        """Send messages, with a token for each if there are any."""
        content: dict[str, Any] = {"reports": [b64encode(message).decode() for message in messages]}
        if tokens:
            content["tokens"] = list(tokens)
        return _receipt(self._post(path, content), len(messages), self.server)

    @cached_property
    def _tls(self) -> ssl.SSLContext | None:
        return ssl.create_default_context() if self._parts.scheme == "https" else None

    def _exchange(self, request: "HttpRequest") -> "HttpAnswer":
        """Return what the server answers, or raise the error that its status stands for."""
        deadline = Deadline(self._timeout)
        host = self._parts.hostname or ""
        connection = DeadlineConnection(host, self._parts.port, deadline, self._tls)
        headers = {"User-Agent": "sottovoce", "Connection": "close", **request.headers}
        try:
            connection.request(request.method, request.path, request.body, headers)
            with connection.getresponse() as response:
                body = response.read(self.max_answer_bytes + 1)
                answer = HttpAnswer(response.status, response.headers, body)
        except (OSError, HTTPException) as error:
            raise UnavailableError(f"{self.server} cannot be reached: try again later") from error
        finally:
            connection.close()
        if answer.status == 304 and "If-None-Match" in request.headers:
            return answer
        if not 200 <= answer.status < 300:
            raise self._refusal(answer)
        if len(answer.body) > self.max_answer_bytes:
            raise CodecError(
                f"an answer of {self.server} may have at most {self.max_answer_bytes} bytes"
            )
        return answer

    def _refusal(self, answer: "HttpAnswer") -> SottovoceError:
        """Return the error for a refused request; a device repeats nothing but its title."""
        return _problem(answer, self.server)


class CollectorApi(HttpApi):
    """The HTTP interface of one collector.

    A task document that has not changed is not fetched again.
    """

    server = "the collector"

    def __init__(self, url: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        super().__init__(url, timeout)
        self._known: dict[str, Notice] = {}

    def task(self, name: str) -> Notice:
        """Return the notice of a task; refuse one of another name, or with a wrong digest."""
        known = self._known.get(name)
        request = HttpRequest("GET", self._path(name))
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
        content = codec.parse(self._exchange(HttpRequest("GET", self._path(name, "round"))).body)
        if set(content) != {"digest", "state", "round"}:
            raise CodecError("the collector's answer must have a digest, a state and a round")
        state = content["state"]
        if state not in STATES:
            raise CodecError(f"the state of a task must be one of {', '.join(STATES)}")
        if digest not in (None, content["digest"]):
            raise MismatchError("the collector asks a round of another task than expected")
        asked = content["round"]
        return state, None if asked is None else codec.round_(asked)

    def keys(self, name: str, number: int, digest: str) -> RoundKeys:
        """Return the keys of a round of a shuffled task; nothing about them is verified yet.

        Raises ``StateError`` as long as not all keys and signatures are there.
        """
        path = self._path(name, "rounds", str(number), "keys")
        content = codec.parse(self._exchange(HttpRequest("GET", path)).body)
        if not _KEY_FIELDS <= set(content) <= {*_KEY_FIELDS, "opened"}:
            raise CodecError(
                "the collector's answer must have a digest, a round, keys and set signatures"
            )
        if content["digest"] != digest:
            raise MismatchError("the collector states keys of another task than expected")
        if content["round"] != number:
            raise MismatchError("the collector states keys of another round than expected")
        opened = content.get("opened")
        return RoundKeys(
            keys=read_signed_keys(content["keys"]),
            set_signatures=_set_signatures(content["set_signatures"]),
            opened=None if opened is None else _count(content, "opened", self.server),
        )

    def blind_signature(self, name: str, enrolment_token: str, blinded: bytes) -> bytes:
        """Return the issuer's signature on a blinded token; the same number gives the same again.

        Raises ``AccessError`` if this enrolment token has had a signature on another number.
        """
        asked = {"token": enrolment_token, "blinded": text_of(blinded)}
        content = self._post(self._path(name, "tokens"), asked)
        if set(content) != {"blind_signature"}:
            raise CodecError("the collector's answer must have a blind signature alone")
        return answered_bytes("blind_signature", content["blind_signature"], MODULUS_BYTES)

    def send(self, name: str, messages: Sequence[bytes], tokens: Sequence[str] = ()) -> Receipt:
        """Send messages, with a token for each if the task needs one."""
        return self._post_messages(self._path(name, "reports"), messages, tokens)


class ShufflerApi(HttpApi):
    """The HTTP interface of the first shuffler of a chain, or of a relay in front of it."""

    server = "the shuffler"

    def send(self, fingerprint: bytes, number: int, messages: Sequence[bytes]) -> Receipt:
        """Send sealed messages of one round; a shuffler knows a task by its fingerprint alone."""
        path = self._path(text_of(fingerprint), "rounds", str(number), "messages")
        return self._post_messages(path, messages)


@dataclass(frozen=True)
class HttpRequest:
    """A request to a server."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class HttpAnswer:
    """What a server answered."""

    status: int
    headers: Message
    body: bytes


def _problem(answer: HttpAnswer, server: str) -> SottovoceError:
    """Return the error for a refused request, with the title of its problem document."""
    if 300 <= answer.status < 400:
        return MismatchError(f"{server} sends this device elsewhere, and it does not go")
    if answer.status == 429 or answer.status >= 500:
        seconds = answer.headers.get("Retry-After", "")
        wait = float(seconds) if re.fullmatch(r"[0-9]{1,9}", seconds) else None
        return BusyError(f"{server} cannot serve now: try again later", wait)
    problem = _problem_document(answer)
    error = _ERRORS.get(answer.status, MismatchError)
    code = problem.get("code")
    if isinstance(code, str):
        error = _ERRORS_OF_CODES.get(code, error)
    return error(f"{server} refuses the request: {_title(problem, answer.status)}")


def _problem_document(answer: HttpAnswer) -> codec.Document:
    """Return the problem document of an answer, empty if it has none."""
    if answer.headers.get_content_type() != "application/problem+json":
        return {}
    try:
        return codec.parse(answer.body)
    except SottovoceError:
        return {}


def _title(problem: codec.Document, status: int) -> str:
    """Return the title of a problem document, if it has a decent one, or the status."""
    try:
        return settings.plain_text("title", problem.get("title"), MAX_ANSWER_BYTES)[:_MAX_TEXT]
    except SottovoceError:
        return f"status {status}"


def _set_signatures(listed: Any) -> tuple[bytes, ...]:
    """Return the signatures of all hops on a set of keys, in the order of the hops."""
    if not isinstance(listed, list) or len(listed) > MAX_HOPS:
        raise CodecError(f"`set_signatures` must be a list of at most {MAX_HOPS} signatures")
    return tuple(answered_bytes("set_signatures", entry, SIGNATURE_BYTES) for entry in listed)


def _receipt(content: codec.Document, sent: int, server: str) -> Receipt:
    """Return the receipt for so many reports, or refuse an answer that is none."""
    accepted = _count(content, "accepted", server)
    duplicates = _count(content, "duplicates", server)
    listed = content.get("refused")
    if not isinstance(listed, list):
        raise CodecError(f"`refused` in the answer of {server} must be a list")
    refused = tuple(_refused(entry, sent) for entry in listed)
    if accepted + duplicates + len(refused) != sent:
        raise CodecError(f"the answer of {server} does not say what became of every report")
    return Receipt(accepted, duplicates, refused)


def _count(content: codec.Document, name: str, server: str) -> int:
    count = content.get(name)
    if type(count) is not int or count < 0:
        raise CodecError(f"`{name}` in the answer of {server} must be a whole number from 0 up")
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
