"""The handlers of the operations: each checks a request and calls the shuffler."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.shuffler import wire
from sottovoce.shuffler.added_task import AddedTask
from sottovoce.shuffler.intake import HopIntake, SealedUpload
from sottovoce.shuffler.operations import OPERATIONS, TITLE
from sottovoce.shuffler.shuffler import Shuffler
from sottovoce.shuffler.status import hop_status
from sottovoce.shuffler.store.base import IncomingPart, PartReceipt
from sottovoce.web import bodies, openapi, uploads
from sottovoce.web.door import Limits
from sottovoce.web.health import HealthHandlers
from sottovoce.web.limits import address_of
from sottovoce.web.metrics import Metrics
from sottovoce.web.problems import RequestError
from sottovoce.web.uploads import JSON, MSGPACK
from sottovoce.wire import batch_part
from sottovoce.wire.batch_part import MAX_PARTS, PartPlace
from sottovoce.wire.seal import MAX_ROUND

_BINARY = "application/octet-stream"
_DECODERS = {JSON: wire.json_messages, MSGPACK: wire.msgpack_messages}
_ENCODERS = {JSON: uploads.as_json, MSGPACK: uploads.as_msgpack}


class HopApi(HealthHandlers):
    """One method for every operation of the table."""

    def __init__(
        self, shuffler: Shuffler, intake: HopIntake, metrics: Metrics, limits: Limits
    ) -> None:
        super().__init__(shuffler.store.check, metrics.text)
        self.shuffler = shuffler
        self.intake = intake
        self.metrics = metrics
        self._limits = limits

    async def get_status(self, request: Request) -> Response:
        return _json(await run_in_threadpool(hop_status, self.shuffler))

    async def upload(self, request: Request) -> Response:
        host = request.headers.get("host", "")
        self._limits.origins.check(request.scope.get("origin"), host)
        task, number = await self._task(request), _path_number(request, "number", MAX_ROUND)
        if not task.is_first:
            raise RequestError("conflict", "devices send their messages to the first hop")
        media_type = uploads.media_type(request.headers.get("content-type", JSON))
        body = await bodies.whole(request.receive)
        content = uploads.decoded(_DECODERS[media_type], body)
        uploads.pay(self._limits.requests, address_of(request.scope), len(content.reports))
        receipt = await self.intake.submit(SealedUpload(task, number, content.reports))
        answer_type = uploads.answer_type(request.headers.get("accept", ""), media_type)
        return Response(_ENCODERS[answer_type](receipt), media_type=answer_type)

    async def put_part(self, request: Request) -> Response:
        task, number = await self._task(request), _path_number(request, "number", MAX_ROUND)
        part = _path_number(request, "part", MAX_PARTS - 1)
        if task.is_first:
            raise RequestError("conflict", "the first hop takes messages of devices only")
        if request.headers.get("content-type", _BINARY) != _BINARY:
            raise RequestError("unsupported-media", f"this route reads {_BINARY}")
        data = await bodies.whole(request.receive)
        part_place = PartPlace(task.fingerprint, number, task.hop - 1, part)
        receipt = await run_in_threadpool(self._take_part, task, part_place, data)
        answer = wire.PartAnswer(receipt.received, receipt.parts, receipt.complete)
        return _json(answer)

    def _take_part(self, task: AddedTask, part_place: PartPlace, data: bytes) -> PartReceipt:
        sender = task.shuffle.hops[task.hop - 1]
        read = batch_part.read(data, part_place, sender.key_bytes)
        sealed_bytes = self.shuffler.sealed_bytes(task, part_place.round)
        if sealed_bytes is None:
            raise RequestError("not-ready", "this hop has not learned of the round yet")
        if len(read.messages) % sealed_bytes:
            raise RequestError(
                "malformed-request", f"a part must hold messages of {sealed_bytes} bytes"
            )
        part = IncomingPart(read.part, read.parts, read.batch_hash, read.messages)
        return self.shuffler.store.take_part(task.fingerprint, part_place.round, part)

    async def get_openapi(self, request: Request) -> Response:
        return _json(openapi.document(TITLE, OPERATIONS, self.shuffler.settings.root_path))

    async def _task(self, request: Request) -> AddedTask:
        return await run_in_threadpool(self.shuffler.find, request.path_params["task"])


def _path_number(request: Request, name: str, most: int) -> int:
    text: str = request.path_params[name]
    if not text.isascii() or not text.isdigit() or len(text) > len(str(most)) or int(text) > most:
        raise RequestError("not-found", f"the {name} in the address must be at most {most}")
    return int(text)


def _json(content: Any) -> Response:
    return Response(uploads.as_json(content), media_type=JSON)
