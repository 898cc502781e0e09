"""The handlers of the operations: each checks a request and calls the collector."""

from typing import Any

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from sottovoce.collector import access, queries, wire
from sottovoce.collector.collector import DAY, Collector
from sottovoce.collector.intake import Intake
from sottovoce.collector.operations import METHODS, OPERATIONS, TITLE
from sottovoce.collector.published import Published
from sottovoce.collector.release import Release, Wanted, level_of, released
from sottovoce.collector.store.base import TAKING, RoundRecord, TokenRecord
from sottovoce.errors import CodecError, ParameterError, StateError
from sottovoce.plans.tables.result import Explanation
from sottovoce.web import metrics, openapi
from sottovoce.web.metrics import Metrics
from sottovoce.web.problems import RequestError
from sottovoce.web.settings import Settings

JSON, MSGPACK, TOML, CSV = "application/json", "application/msgpack", "application/toml", "text/csv"
_DIGITS = 18  # of the longest content length that is read as a number
_QUESTIONS = 2  # SQL queries answered at once: each may use all cores, and pages need threads too
_ARRIVALS = 6 * 3600  # seconds of arrival counts in a status


class Api:
    """One method for every operation of the table that names this class as its home."""

    def __init__(
        self, collector: Collector, intake: Intake, settings: Settings, metrics: Metrics
    ) -> None:
        self.collector = collector
        self.intake = intake
        self.settings = settings
        self.metrics = metrics
        self._questions = CapacityLimiter(_QUESTIONS)

    async def list_tasks(self, request: Request) -> Response:
        return _json(wire.TaskList([_line(published) for published in self.collector.tasks()]))

    async def create_task(self, request: Request) -> Response:
        kind = _kind(request, (JSON, TOML))
        text = _text(await self.body(request))
        published, new = await run_in_threadpool(self.collector.create, text, toml=kind == TOML)
        concerns = list(published.task.concerns)
        created = wire.Created(published.record.name, published.digest, new, concerns)
        return _json(created, status=201 if new else 200)

    async def get_task(self, request: Request) -> Response:
        published = self._published(request)
        return _tagged(request, published.digest, published.record.document.encode())

    async def get_round(self, request: Request) -> Response:
        published = self._published(request)
        taking = published.last.state in TAKING and published.record.finished is None
        document = msgspec.Raw(published.last.document.encode()) if taking else None
        current = wire.Current(published.digest, published.state, document)
        tag = f"{published.digest}-{published.last.number}-{published.state}"
        return _tagged(request, tag, wire.as_json(current))

    async def get_answer(self, request: Request) -> Response:
        published = self._published(request)
        wanted = Wanted(
            _method(request), _level(request), tuple(request.query_params.getlist("marginal"))
        )
        csv_wanted = _wants_csv(request)
        answer = await run_in_threadpool(released, self.collector, published, wanted)
        return answer_response(answer, csv=csv_wanted)

    async def ask_sql(self, request: Request) -> Response:
        _kind(request, (JSON,))
        wanted = decoded(wire.sql_request, await self.body(request))
        asked = queries.QueryRequest(wanted.sql, wanted.level, wanted.users)
        return _json((await self.answered(self.collector.find(wanted.task), asked)).to_dict())

    async def answered(
        self, published: Published, asked: queries.QueryRequest
    ) -> queries.Released | Explanation:
        """Return the answer to a question in SQL, or how it would be answered; others wait for
        their turn.
        """
        answer = to_thread.run_sync(
            queries.answered, self.collector, published, asked, limiter=self._questions
        )
        return await answer

    async def get_status(self, request: Request) -> Response:
        return _json(await run_in_threadpool(self.status, self._published(request)))

    def status(self, published: Published) -> wire.Status:
        """Return the progress of a task as the store has it now."""
        store, digest = self.collector.store, published.digest
        rounds = [_round_line(record) for record in store.rounds(digest)]
        arrivals = store.arrivals(digest, self.collector.now - _ARRIVALS)
        record = published.record
        return wire.Status(
            record.name,
            digest,
            published.state,
            record.failure,
            rounds,
            store.refusals(digest),
            arrivals,
        )

    async def close_task(self, request: Request) -> Response:
        published = self._published(request)
        at_once = request.query_params.get("at_once", "false")
        if at_once not in ("true", "false"):
            raise ParameterError("`at_once` must be true or false")
        name = published.record.name
        if not await run_in_threadpool(self.collector.close, name, at_once=at_once == "true"):
            raise StateError("this task has no round to close")
        return _json(await run_in_threadpool(self.status, self.collector.find(name)))

    async def issue_tokens(self, request: Request) -> Response:
        _kind(request, (JSON,))
        wanted = decoded(wire.token_request, await self.body(request))
        tokens = await run_in_threadpool(self._issue, wanted)
        return _json(wire.TokenList(wanted.scope, tokens), status=201)

    def _issue(self, wanted: wire.TokenRequest) -> list[str]:
        seconds = wanted.days * DAY or None
        store, now = self.collector.store, self.collector.now
        return access.issue(
            store, wanted.scope, now, label=wanted.label, count=wanted.count, seconds=seconds
        )

    async def list_tokens(self, request: Request) -> Response:
        records = await run_in_threadpool(self.collector.store.tokens)
        return _json(wire.TokenLines([_token_line(record) for record in records]))

    async def revoke_token(self, request: Request) -> Response:
        if not await run_in_threadpool(
            access.revoke, self.collector.store, request.path_params["id"]
        ):
            raise RequestError("not-found", "there is no such token")
        return Response(status_code=204)

    async def get_openapi(self, request: Request) -> Response:
        return _json(openapi.document(TITLE, OPERATIONS))

    async def healthz(self, request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def readyz(self, request: Request) -> Response:
        await run_in_threadpool(self.collector.store.check)
        return PlainTextResponse("ready\n")

    async def get_metrics(self, request: Request) -> Response:
        return Response(self.metrics.text(), media_type=metrics.CONTENT_TYPE)

    async def body(self, request: Request) -> bytes:
        """Return the body of a request; stop reading if it is larger than allowed."""
        limit, pieces, size = self.settings.largest_body, [], 0
        stated = request.headers.get("content-length", "0")
        if not (stated.isascii() and stated.isdigit()):
            raise RequestError("malformed-request", "the content length is not a number of bytes")
        if len(stated) > _DIGITS or int(stated) > limit:
            raise RequestError("too-large", f"a body has at most {limit} bytes")
        async for piece in request.stream():
            size += len(piece)
            if size > limit:
                raise RequestError("too-large", f"a body has at most {limit} bytes")
            pieces.append(piece)
        return b"".join(pieces)

    def _published(self, request: Request) -> Published:
        return self.collector.find(request.path_params["name"])


def _line(published: Published) -> wire.TaskLine:
    task = published.task
    return wire.TaskLine(
        task.name, published.digest, task.description, repr(task.epsilon), published.state
    )


def _round_line(record: RoundRecord) -> wire.RoundLine:
    return wire.RoundLine(
        number=record.number,
        state=record.state.value,
        opened=record.opened,
        users=record.users,
        count=record.count,
        checksum=record.checksum,
        erased=record.erased is not None,
    )


def _token_line(record: TokenRecord) -> wire.TokenLine:
    identity = access.identity(record)
    return wire.TokenLine(identity, record.scope, record.label, record.created, record.expires)


def _json(content: Any, status: int = 200) -> Response:
    return Response(wire.as_json(content), status_code=status, media_type=JSON)


def answer_response(answer: Release, *, csv: bool) -> Response:
    """Return a released answer as CSV or as JSON."""
    return Response(answer.to_csv(), media_type=CSV) if csv else _json(answer.content)


def _tagged(request: Request, tag: str, body: bytes) -> Response:
    headers = {"etag": f'"{tag}"', "cache-control": "no-cache"}
    tags = request.headers.get("if-none-match", "").split(",")
    known = [known_tag.strip().removeprefix("W/") for known_tag in tags]
    if headers["etag"] in known or known == ["*"]:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=JSON, headers=headers)


def _kind(request: Request, allowed: tuple[str, ...]) -> str:
    kind = request.headers.get("content-type", JSON).split(";")[0].strip().lower()
    if kind not in allowed:
        raise RequestError("unsupported-media", f"this route reads {' and '.join(allowed)}")
    return kind


def decoded(decoder: Any, body: bytes) -> Any:
    """Return the decoded body, or refuse it without quoting it."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # The decoder's own words may quote the body.
        raise RequestError("malformed-request") from None


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise CodecError("a task file must be UTF-8 text") from None


def _method(request: Request) -> str:
    method = request.query_params.get("method", "none")
    if method not in METHODS:
        raise ParameterError(f"`method` must be one of {', '.join(METHODS)}")
    return method


def _level(request: Request) -> float:
    return level_of(request.query_params.get("level", "0.95"))


def _wants_csv(request: Request) -> bool:
    accepted = request.headers.get("accept", "*/*")
    if JSON in accepted or "application/*" in accepted:
        return False
    if CSV in accepted or "text/*" in accepted:
        return True
    if "*/*" in accepted:
        return False
    raise RequestError("not-acceptable")
