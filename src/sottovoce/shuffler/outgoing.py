"""HTTP to the collector and to the next hop, with the standard library and one deadline each."""

import json
import ssl
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException
from typing import Any

from sottovoce.client.deadline import Deadline, DeadlineConnection
from sottovoce.core.addresses import protected_url
from sottovoce.errors import CodecError, SottovoceError, StateError, UnavailableError
from sottovoce.wire import codec

DEFAULT_TIMEOUT = 60.0  # seconds
_MAX_ANSWER_BYTES = 4 << 20
_JSON = "application/json"
BINARY = "application/octet-stream"


class RefusedRequestError(StateError):
    """Another server refuses a request; ``code`` is that of its problem document."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"another server refuses a request: {code or f'status {status}'}")
        self.status = status
        self.code = code


@dataclass(frozen=True)
class OutgoingRequest:
    """A request to another server; ``path`` begins behind the path of the server's URL."""

    method: str
    path: str
    body: bytes | None = None
    content_type: str = _JSON


class OtherServer:
    """Another server: a collector, or the next hop.

    ``timeout`` is for a whole exchange, from connecting to the last byte of the answer.
    """

    def __init__(self, url: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._parts = protected_url("url", url)
        self._timeout = timeout

    def get(self, path: str) -> bytes:
        """Return the body of the response at a path."""
        return self._exchange(OutgoingRequest("GET", path))

    def get_json(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path."""
        return codec.parse(self.get(path))

    def send_json(self, method: str, path: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a JSON object and return the one that is answered."""
        body = json.dumps(content).encode()
        return _parsed(self._exchange(OutgoingRequest(method, path, body)))

    def put_bytes(self, path: str, body: bytes) -> dict[str, Any]:
        """Put bytes at a path and return the JSON object that is answered."""
        return _parsed(self._exchange(OutgoingRequest("PUT", path, body, BINARY)))

    @cached_property
    def _tls(self) -> ssl.SSLContext | None:
        return ssl.create_default_context() if self._parts.scheme == "https" else None

    def _exchange(self, request: OutgoingRequest) -> bytes:
        host = self._parts.hostname or ""
        deadline = Deadline(self._timeout)
        connection = DeadlineConnection(host, self._parts.port, deadline, self._tls)
        headers = {"User-Agent": "sottovoce", "Connection": "close"}
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        path = self._parts.path.rstrip("/") + request.path
        try:
            connection.request(request.method, path, request.body, headers)
            with connection.getresponse() as response:
                body = response.read(_MAX_ANSWER_BYTES + 1)
                status = response.status
        except (OSError, HTTPException) as error:
            raise UnavailableError("another server cannot be reached: try again later") from error
        finally:
            connection.close()
        if status == 429 or status >= 500:
            raise UnavailableError("another server cannot serve now: try again later")
        if not 200 <= status < 300:
            raise RefusedRequestError(status, _code(body))
        if len(body) > _MAX_ANSWER_BYTES:
            raise CodecError(f"an answer may have at most {_MAX_ANSWER_BYTES} bytes")
        return body


def _parsed(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body; an empty body is an empty object."""
    return codec.parse(body) if body else {}


def _code(body: bytes) -> str:
    """Return the code of a problem document, if it has a decent one."""
    try:
        code = codec.parse(body).get("code")
    except SottovoceError:
        return ""
    return code if isinstance(code, str) and code.replace("-", "").isalnum() else ""
