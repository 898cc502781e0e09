"""A hop's requests to the collector of a task: rounds, keys of other hops, tokens for fakes."""

from collections.abc import Sequence
from urllib.parse import quote

from sottovoce.core.base64url import text_of
from sottovoce.errors import CodecError, MismatchError
from sottovoce.shuffler.added_task import AddedTask
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.wire import codec
from sottovoce.wire.fake_tokens import FakeTokenRequest
from sottovoce.wire.round_keys import SignedKey, answered_bytes, read_signed_keys, verify_keys
from sottovoce.wire.tokens import MODULUS_BYTES

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

    def send_key(self, number: int, key: SignedKey) -> None:
        """Give the collector the signed key of a round."""
        content = key.to_dict()
        hop = content.pop("hop")
        self._server.send_json("PUT", f"{self.path}/rounds/{number}/keys/{hop}", content)

    def round_keys(self, number: int) -> tuple[bytes, ...]:
        """Return the keys of all hops and of the collector for a round.

        Each is verified to be signed by the one whose place it is in.  Raises
        ``RefusedRequestError`` with the code ``not-ready`` as long as one is missing.
        """
        content = self._server.get_json(f"{self.path}/rounds/{number}/key-set")
        keys = read_signed_keys(content.get("keys"))
        signing_keys = self._task.shuffle.signing_keys
        if len(keys) != len(signing_keys):
            raise CodecError("`keys` in the collector's answer must have one key per layer")
        return verify_keys(self._task.fingerprint, number, keys, signing_keys)

    def send_set_signature(self, number: int, signature: bytes) -> None:
        """Give the collector the signature of this hop on all keys of a round."""
        path = f"{self.path}/rounds/{number}/key-set/{self._task.hop}"
        self._server.send_json("PUT", path, {"signature": text_of(signature)})

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
        return [answered_bytes("blind_signatures", text, MODULUS_BYTES) for text in listed]
