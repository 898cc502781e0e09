"""Sending a sealed message to the first hop of a task, or to a relay in front of it.

The request is the one that devices make, with one message in it.
"""

import json
import ssl
from base64 import b64encode, urlsafe_b64encode
from http.client import HTTPException

from sottovoce.client.deadline import Deadline, DeadlineConnection
from sottovoce.collector.key_exchange import shuffle_of
from sottovoce.collector.published import Published
from sottovoce.core.addresses import protected_url
from sottovoce.errors import CodecError, MismatchError, StateError, UnavailableError

_SECONDS = 30.0  # for one message
_MAX_ANSWER_BYTES = 1 << 16


class FirstHop:
    """The door of the first hop for one round of a task; a ``relay`` takes the place of its URL."""

    def __init__(self, published: Published, number: int, relay: str = "") -> None:
        self._url = protected_url("relay", relay or shuffle_of(published).hops[0].url)
        name = urlsafe_b64encode(published.fingerprint).rstrip(b"=").decode()
        self._path = f"{self._url.path.rstrip('/')}/v1/tasks/{name}/rounds/{number}/messages"

    def send(self, sealed: bytes) -> None:
        """Send one message; raise unless the hop has it."""
        body = json.dumps({"reports": [b64encode(sealed).decode()]}).encode()
        status, answer = self._exchange(body)
        if status != 200:
            raise UnavailableError(f"the first hop refuses a message with status {status}")
        _check_receipt(answer)

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        context = ssl.create_default_context() if self._url.scheme == "https" else None
        host = self._url.hostname or ""
        connection = DeadlineConnection(host, self._url.port, Deadline(_SECONDS), context)
        headers = {"User-Agent": "sottovoce", "Content-Type": "application/json"}
        try:
            connection.request("POST", self._path, body, headers)
            with connection.getresponse() as response:
                return response.status, response.read(_MAX_ANSWER_BYTES)
        except (OSError, HTTPException) as error:
            raise UnavailableError("the first hop cannot be reached: try again later") from error
        finally:
            connection.close()


def _check_receipt(answer: bytes) -> None:
    """Refuse a receipt that does not say that the message is kept."""
    try:
        receipt = json.loads(answer)
        kept = receipt["accepted"] + receipt["duplicates"]
        refused = receipt["refused"]
    except (ValueError, KeyError, TypeError):
        raise CodecError("the answer of the first hop is not a receipt") from None
    if kept == 1:
        return
    code = refused[0].get("code") if refused and isinstance(refused[0], dict) else None
    if code == "too-early":
        raise StateError("the first hop does not know this round yet: try again later")
    raise MismatchError("the first hop refuses a canary, as it would refuse a device's message")
