"""Uploads: the one route that matters for speed, served before the router and without its objects.

It does what every other route does (the table of operations describes it, problems are problem
documents).  A short upload, whose task is known and prepared, needs not even ASGI: see
``web/direct.py``.  In a profile of small uploads all that cost more than the work of the route.
"""

import logging
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce.collector import wire
from sottovoce.collector.api import Api
from sottovoce.collector.operations import UPLOAD
from sottovoce.collector.preparation import Preparation
from sottovoce.collector.published import Published
from sottovoce.errors import SottovoceError
from sottovoce.web import bodies, uploads
from sottovoce.web.direct import Answer, Reply
from sottovoce.web.door import Limits, Serve
from sottovoce.web.group_commit import Result
from sottovoce.web.limits import address_of
from sottovoce.web.origins import Headers
from sottovoce.web.problem_response import respond
from sottovoce.web.problems import RequestError
from sottovoce.web.uploads import JSON, MSGPACK

_log = logging.getLogger(__name__)
_BEFORE_NAME, _AFTER_NAME = UPLOAD.path.split("{name}")
_DECODERS = {JSON: wire.json_upload, MSGPACK: wire.msgpack_upload}
_ENCODERS = {JSON: uploads.as_json, MSGPACK: uploads.as_msgpack}


class Uploading:
    """Serves uploads, and passes every other request on."""

    def __init__(self, app: ASGIApp, api: Api, limits: Limits) -> None:
        self._app = app
        self._api = api
        self._limits = limits
        self._preparation = Preparation()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = _task_name(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        scope["operation"] = UPLOAD
        try:
            media_type, body = await self._take(name, scope, receive)
        except SottovoceError as error:
            await self._problem(error)(scope, receive, send)
            return
        except Exception:
            _log.exception("upload")
            await self._problem(SottovoceError())(scope, receive, send)
            return
        headers = _headers(media_type, body)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _take(self, name: str, scope: Scope, receive: Receive) -> tuple[str, bytes]:
        """Return the media type and the body of the answer, once everything in it is durable."""
        headers = self._checked_headers(scope)
        published = self._api.collector.find(name)
        types = _MediaTypes.of(headers)
        upload = self._paid(types, await bodies.whole(receive), scope)
        await self._preparation.wait(published)
        receipt = await self._api.intake.submit(published, upload.reports, upload.tokens)
        return types.answered, _ENCODERS[types.answered](receipt)

    def begin(self, scope: Scope) -> Serve | None:
        """Return what takes an upload for a task that is known and prepared."""
        name = _task_name(scope)
        if name is None:
            return None
        try:
            published = self._api.collector.find(name)
        except RequestError:
            return None
        if not published.prepared:
            return None
        scope["operation"] = UPLOAD
        return partial(self._serve, published)

    def _serve(self, published: Published, scope: Scope, body: bytes, answer: Answer) -> None:
        """Take a whole upload, and answer it once everything in it is durable."""
        try:
            types = _MediaTypes.of(self._checked_headers(scope))
            upload = self._paid(types, body, scope)
            done = partial(self._reply, types.answered, answer)
            self._api.intake.offer_messages(published, upload.reports, upload.tokens, done)
        except SottovoceError as error:
            answer(Reply.of(self._problem(error)))
        except Exception:
            _log.exception("upload")
            answer(Reply.of(self._problem(SottovoceError())))

    def _reply(self, media_type: str, answer: Answer, result: Result) -> None:
        """Answer an upload with what became of it."""
        if isinstance(result, SottovoceError):
            answer(Reply.of(self._problem(result)))
            return
        body = _ENCODERS[media_type](result)
        answer(Reply(200, _headers(media_type, body), body))

    def _problem(self, error: SottovoceError) -> Response:
        return respond(error, self._api.settings.root_path)

    def _checked_headers(self, scope: Scope) -> dict[bytes, bytes]:
        """Return the headers of a request, or refuse it because of the page that it is from."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        self._limits.origins.check(scope.get("origin"), host)
        return headers

    def _paid(self, types: "_MediaTypes", body: bytes, scope: Scope) -> wire.Upload:
        """Return what an upload holds, after it was paid for, or refuse it."""
        upload: wire.Upload = uploads.decoded(_DECODERS[types.sent], body)
        if upload.tokens and len(upload.tokens) != len(upload.reports):
            raise RequestError("malformed-request", "there is one token for every report, or none")
        uploads.pay(self._limits.requests, address_of(scope), len(upload.reports))
        return upload


class _MediaTypes(NamedTuple):
    """In which types an upload is sent and answered."""

    sent: str
    answered: str

    @classmethod
    def of(cls, headers: Mapping[bytes, bytes]) -> "_MediaTypes":
        """Return the types that headers state, or refuse them."""
        return _types(
            headers.get(b"content-type", b"application/json"), headers.get(b"accept", b"")
        )


@lru_cache(maxsize=64)  # nearly all uploads state the same
def _types(content_type: bytes, accepted: bytes) -> _MediaTypes:
    sent = uploads.media_type(content_type.decode("latin-1"))
    return _MediaTypes(sent, uploads.answer_type(accepted.decode("latin-1"), sent))


def _headers(media_type: str, body: bytes) -> Headers:
    return [(b"content-type", media_type.encode()), (b"content-length", b"%d" % len(body))]


def _task_name(scope: Scope) -> str | None:
    """Return the name of the task that an upload is for, or None if the request is no upload."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path: str = scope.get("path", "")
    if not path.startswith(_BEFORE_NAME) or not path.endswith(_AFTER_NAME):
        return None
    name = path[len(_BEFORE_NAME) : -len(_AFTER_NAME)]
    return None if "/" in name else name
