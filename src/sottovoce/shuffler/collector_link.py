"""What a hop asks of the collector of a task: rounds, the keys of other hops, tokens for fakes."""

from base64 import urlsafe_b64decode
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from sottovoce.core.base64url import text_of
from sottovoce.errors import CodecError, MismatchError
from sottovoce.shuffler.added_task import AddedTask
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.wire import codec
from sottovoce.wire.fake_tokens import FakeTokenRequest
from sottovoce.wire.round_keys import KeyStatement

FINISHED = "finished"


class CollectorLink:
    """The interface of a collector for one task."""

    def __init__(self, task: AddedTask, server: OtherServer | None = None) -> None:
        self._task = task
        self._server = server or OtherServer(task.collector)

    @property
    def path(self) -> str:
        """Return the path of the task at the collector."""
        return f"/v1/tasks/{quote(self._task.notice.name, safe='')}"

    def current_round(self) -> tuple[str, str | None]:
        """Return the state of the task, and the document of the round that is asked, if any."""
        content = self._server.get_json(f"{self.path}/round")
        if content.get("digest") != self._task.notice.digest:
            raise MismatchError("the collector has another task of this name")
        asked = content.get("round")
        state = content.get("state")
        if not isinstance(state, str):
            raise CodecError("`state` in the collector's answer must be text")
        return state, None if asked is None else codec.canonical(asked)

    def send_key(self, statement: KeyStatement, signature: bytes) -> None:
        """Give the collector the signed key of a round."""
        content = {
            "public_key": text_of(statement.public_key),
            "signature": text_of(signature),
        }
        path = f"{self.path}/rounds/{statement.round}/keys/{statement.hop}"
        self._server.send_json("PUT", path, content)

    def round_keys(self, number: int) -> tuple[bytes, ...]:
        """Return the keys of all hops and of the collector for a round; all are verified."""
        content = self._server.get_json(f"{self.path}/rounds/{number}/keys")
        listed = content.get("keys")
        signing_keys = self._task.shuffle.signing_keys
        if not isinstance(listed, list) or len(listed) != len(signing_keys):
            raise CodecError("`keys` in the collector's answer must have one key per layer")
        keys = []
        for hop, (entry, signing_key) in enumerate(zip(listed, signing_keys, strict=True)):
            public_key = _octets(entry, "public_key")
            statement = KeyStatement(self._task.fingerprint, number, hop, public_key)
            statement.verify(_octets(entry, "signature"), signing_key)
            keys.append(public_key)
        return tuple(keys)

    def sign_fake_tokens(
        self, number: int, blinded: Sequence[bytes], signing_key: bytes
    ) -> list[bytes]:
        """Return the blind signatures on the tokens of fakes, at most 1,000 of them."""
        task = self._task
        request = FakeTokenRequest(task.fingerprint, number, task.hop, tuple(blinded))
        signature = request.sign(signing_key)
        content = {
            "blinded": [text_of(each) for each in blinded],
            "signature": text_of(signature),
        }
        path = f"{self.path}/rounds/{number}/fake-tokens/{self._task.hop}"
        listed = self._server.send_json("POST", path, content).get("blind_signatures")
        if not isinstance(listed, list) or len(listed) != len(blinded):
            raise CodecError("the collector's answer must have one blind signature per token")
        return [_decoded(text) for text in listed]


def _octets(entry: Any, name: str) -> bytes:
    return _decoded(entry.get(name) if isinstance(entry, dict) else None)


def _decoded(text: Any) -> bytes:
    """Return the bytes that a text in base64url without padding spells."""
    if not isinstance(text, str) or len(text) > 1_000:
        raise CodecError("the collector's answer must hold keys in base64url")
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise CodecError("the collector's answer must hold keys in base64url") from None
