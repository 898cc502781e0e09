"""The handlers of shuffled tasks: round keys, batches and blind tokens.

Hops have no access tokens.  What they send is signed with the keys that the documents pin, so that
no password can be stolen on the way and everybody can check who said what.
"""

import re
from functools import cached_property

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.collector import batches, issuing, key_exchange, key_files, shuffle_wire
from sottovoce.collector.collector import Collector
from sottovoce.collector.published import Published
from sottovoce.collector.responses import FOR_EVER, json_response, media_type, tagged
from sottovoce.core import settings as validators
from sottovoce.core.base64url import text_of
from sottovoce.web import bodies
from sottovoce.web.limits import RateLimit, address_of
from sottovoce.web.problems import RequestError
from sottovoce.web.settings import Settings
from sottovoce.web.uploads import JSON, as_json, decoded
from sottovoce.wire.fake_tokens import FakeTokenRequest
from sottovoce.wire.round_keys import SignedKey
from sottovoce.wire.seal import KEY_BYTES
from sottovoce.wire.signatures import SIGNATURE_BYTES
from sottovoce.wire.tokens import MODULUS_BYTES, Issuer

_OCTETS = "application/octet-stream"
_SIGNING_PRICE = 50  # reports: what one signature takes of the rate of an address
_NUMBER = re.compile("0|[1-9][0-9]{0,8}")


class ShuffleHandlers:
    """One method for every operation of shuffled tasks."""

    def __init__(self, collector: Collector, settings: Settings) -> None:
        self.collector = collector
        self.settings = settings
        self._signing_rate = RateLimit(settings.rate / _SIGNING_PRICE, lambda: collector.now)

    async def get_round_keys(self, request: Request) -> Response:
        published = self._published(request)
        number = _whole(request, "number")
        store = self.collector.store
        given = await run_in_threadpool(key_exchange.signed_set, store, published, number)
        content = shuffle_wire.RoundKeyList(
            digest=published.digest,
            round=number,
            opened=published.rounds[number].opened,
            keys=shuffle_wire.key_lines(given.keys),
            set_signatures=[text_of(signature) for signature in given.set_signatures],
        )
        return tagged(request, f"{published.digest}-{number}-keys", as_json(content), FOR_EVER)

    async def get_key_set(self, request: Request) -> Response:
        published = self._published(request)
        number = _whole(request, "number")
        store = self.collector.store
        keys = await run_in_threadpool(key_exchange.all_keys, store, published, number)
        lines = shuffle_wire.key_lines(keys)
        content = shuffle_wire.UnsignedKeySet(published.digest, number, lines)
        return tagged(request, f"{published.digest}-{number}-key-set", as_json(content), FOR_EVER)

    async def put_set_signature(self, request: Request) -> Response:
        published = self._published(request)
        media_type(request, (JSON,))
        body = decoded(shuffle_wire.set_signature_body, await bodies.whole(request.receive))
        signature = validators.base64url("signature", body.signature, SIGNATURE_BYTES)
        place = (_whole(request, "number"), _whole(request, "hop"))
        store = self.collector.store
        is_new = await run_in_threadpool(
            key_exchange.add_set_signature, store, published, *place, signature
        )
        return Response(status_code=201 if is_new else 200)

    async def put_round_key(self, request: Request) -> Response:
        published = self._published(request)
        media_type(request, (JSON,))
        body = decoded(shuffle_wire.round_key_body, await bodies.whole(request.receive))
        key = SignedKey(
            _whole(request, "hop"),
            validators.base64url("public_key", body.public_key, KEY_BYTES),
            validators.base64url("signature", body.signature, SIGNATURE_BYTES),
        )
        number = _whole(request, "number")
        store = self.collector.store
        is_new = await run_in_threadpool(key_exchange.add_hop_key, store, published, number, key)
        return Response(status_code=201 if is_new else 200)

    async def put_batch_part(self, request: Request) -> Response:
        published = self._published(request)
        media_type(request, (_OCTETS,))
        place = (_whole(request, "number"), _whole(request, "part"))
        body = await bodies.whole(request.receive)
        store = self.collector.store
        batch, is_new = await run_in_threadpool(batches.receive, store, published, place, body)
        receipt = shuffle_wire.BatchReceipt(batch.received, batch.parts, batch.complete)
        return json_response(receipt, status=201 if is_new else 200)

    async def buy_token(self, request: Request) -> Response:
        published = self._published(request)
        media_type(request, (JSON,))
        wait = self._signing_rate.wait(address_of(request.scope))
        if wait:
            raise RequestError("slow-down", retry_after=wait)
        body = decoded(shuffle_wire.token_purchase, await bodies.whole(request.receive))
        blinded = validators.base64url("blinded", body.blinded, MODULUS_BYTES)
        signature = await run_in_threadpool(self._sign_for_device, published, body.token, blinded)
        return json_response(shuffle_wire.BlindSignature(text_of(signature)))

    def _sign_for_device(self, published: Published, token: str, blinded: bytes) -> bytes:
        store, now = self.collector.store, self.collector.now
        issuing.check_issues(published)
        return issuing.sign_for_device(store, self._issuer, published, (token, blinded), now)

    async def buy_fake_tokens(self, request: Request) -> Response:
        published = self._published(request)
        media_type(request, (JSON,))
        body = decoded(shuffle_wire.fake_tokens_body, await bodies.whole(request.receive))
        numbers = [validators.base64url("blinded", text, MODULUS_BYTES) for text in body.blinded]
        signature = validators.base64url("signature", body.signature, SIGNATURE_BYTES)
        wanted = FakeTokenRequest(
            digest=published.fingerprint,
            round=_whole(request, "number"),
            hop=_whole(request, "hop"),
            blinded=tuple(numbers),
        )
        signatures = await run_in_threadpool(self._sign_for_hop, published, wanted, signature)
        return json_response(shuffle_wire.BlindSignatures([text_of(each) for each in signatures]))

    def _sign_for_hop(
        self, published: Published, wanted: FakeTokenRequest, signature: bytes
    ) -> list[bytes]:
        issuing.check_issues(published)
        return issuing.sign_for_hop(
            self.collector.store, self._issuer, published, wanted, signature
        )

    @cached_property
    def _issuer(self) -> Issuer:
        return key_files.issuer(self.collector.folder)

    def _published(self, request: Request) -> Published:
        return self.collector.find(request.path_params["name"])


def _whole(request: Request, name: str) -> int:
    """Return a number in the path of a request; there is nothing under any other text."""
    text = request.path_params[name]
    if not _NUMBER.fullmatch(text):
        raise RequestError("not-found", f"`{name}` in this address must be a number")
    return int(text)
