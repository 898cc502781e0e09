"""The way of an upload: the one route that matters for speed, served before the router and without its objects.

It does what every other route does (the table of operations describes it, problems are problem documents), in plain
ASGI: in a profile of small uploads routing and its objects cost more than the work of the route itself.
"""

import logging

from starlette.types import ASGIApp, Receive, Scope, Send

from sottovoce.collector import wire
from sottovoce.collector.api import JSON, MSGPACK, Api, decoded
from sottovoce.collector.operations import UPLOAD
from sottovoce.errors import SottovoceError
from sottovoce.web.problem_response import respond
from sottovoce.web.problems import RequestError

_log = logging.getLogger(__name__)
_BEFORE, _AFTER = UPLOAD.path.split("{name}")
_WIRE = {JSON: (wire.json_upload, wire.as_json), MSGPACK: (wire.msgpack_upload, wire.as_msgpack)}


class Uploading:
    """Serves uploads, and hands everything else on."""

    def __init__(self, app: ASGIApp, api: Api) -> None:
        self._app, self._api = app, api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        mine = scope["type"] == "http" and scope["method"] == "POST" and path.startswith(_BEFORE)
        name = path[len(_BEFORE) : -len(_AFTER)]
        if not mine or not path.endswith(_AFTER) or "/" in name:
            await self._app(scope, receive, send)
            return
        scope["operation"] = UPLOAD
        try:
            kind, body = await self._take(name, dict(scope["headers"]), receive)
        except SottovoceError as error:
            await respond(error)(scope, receive, send)
            return
        except Exception:
            _log.exception("upload")
            await respond(SottovoceError())(scope, receive, send)
            return
        headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _take(self, name: str, headers: dict[bytes, bytes], receive: Receive) -> tuple[str, bytes]:
        """Return the content type and the body of the answer, once everything in it is durable."""
        published = self._api.collector.find(name)
        kind = headers.get(b"content-type", b"application/json").decode("latin-1").split(";")[0].strip().lower()
        if kind not in _WIRE:
            raise RequestError("unsupported-media", f"this route reads {' and '.join(_WIRE)}")
        upload = decoded(_WIRE[kind][0], await self._body(receive))
        if upload.tokens and len(upload.tokens) != len(upload.reports):
            raise RequestError("malformed-request", "there is one token for every report, or none")
        outcome = await self._api.intake.submit(published, upload.reports, upload.tokens)
        accepted = headers.get(b"accept", b"").decode("latin-1")
        answer = kind if "*/*" in accepted or not accepted else MSGPACK if MSGPACK in accepted else JSON
        return answer, _WIRE[answer][1](outcome)

    async def _body(self, receive: Receive) -> bytes:
        """Return the body, or stop reading when it is larger than allowed."""
        limit, pieces, size, more = self._api.settings.largest_body, [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestError("malformed-request", "the body was cut")
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > limit:
                raise RequestError("too-large", f"a body has at most {limit} bytes")
            more = message.get("more_body", False)
        return b"".join(pieces)
