"""Uploads: the one route that matters for speed, served before the router and without its objects.

It does what every other route does (the table of operations describes it, problems are problem
documents), in plain ASGI.  In a profile of small uploads the router and its objects cost more than
the work of the route itself.
"""

import logging

from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce.collector import wire
from sottovoce.collector.api import Api
from sottovoce.collector.operations import UPLOAD
from sottovoce.collector.preparation import Preparation
from sottovoce.errors import SottovoceError
from sottovoce.web import bodies, uploads
from sottovoce.web.door import Limits
from sottovoce.web.limits import address_of
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
            await respond(error)(scope, receive, send)
            return
        except Exception:
            _log.exception("upload")
            await respond(SottovoceError())(scope, receive, send)
            return
        headers = [(b"content-type", media_type.encode()), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _take(self, name: str, scope: Scope, receive: Receive) -> tuple[str, bytes]:
        """Return the media type and the body of the answer, once everything in it is durable."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        self._limits.origins.check(scope.get("origin"), host)
        published = self._api.collector.find(name)
        content_type = headers.get(b"content-type", b"application/json").decode("latin-1")
        media_type = uploads.media_type(content_type)
        upload = uploads.decoded(_DECODERS[media_type], await bodies.whole(receive))
        if upload.tokens and len(upload.tokens) != len(upload.reports):
            raise RequestError("malformed-request", "there is one token for every report, or none")
        uploads.pay(self._limits.requests, address_of(scope), len(upload.reports))
        await self._preparation.wait(published)
        receipt = await self._api.intake.submit(published, upload.reports, upload.tokens)
        answer_type = uploads.answer_type(headers.get(b"accept", b"").decode("latin-1"), media_type)
        return answer_type, _ENCODERS[answer_type](receipt)


def _task_name(scope: Scope) -> str | None:
    """Return the name of the task that an upload is for, or None if the request is no upload."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path: str = scope.get("path", "")
    if not path.startswith(_BEFORE_NAME) or not path.endswith(_AFTER_NAME):
        return None
    name = path[len(_BEFORE_NAME) : -len(_AFTER_NAME)]
    return None if "/" in name else name
