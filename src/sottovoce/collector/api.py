"""The handlers of the operations: each checks a request and calls the collector."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sottovoce.answers.outcome import Outcome
from sottovoce.collector import access, queries, shuffle_status, wire
from sottovoce.collector.answering import Answering
from sottovoce.collector.collector import DAY, Collector
from sottovoce.collector.intake import Intake
from sottovoce.collector.operations import METHODS, OPERATIONS, TITLE
from sottovoce.collector.published import Published
from sottovoce.collector.query_queue import QueryQueue
from sottovoce.collector.query_workers import QueryWorkers
from sottovoce.collector.release import (
    AnswerOptions,
    Release,
    fakes_of,
    level_of,
    released,
    released_integrity,
)
from sottovoce.collector.resources import Resources
from sottovoce.collector.responses import FOR_EVER, json_response, media_type, tagged
from sottovoce.collector.shared_turns import SharedTurns
from sottovoce.collector.shuffle_api import ShuffleHandlers
from sottovoce.collector.store.base import TAKING, RoundRecord, Store, TokenRecord
from sottovoce.errors import CodecError, ParameterError, StateError
from sottovoce.plans.tables.result import Explanation
from sottovoce.sql.query import Query
from sottovoce.web import bodies, openapi
from sottovoce.web.disconnect import unless_gone
from sottovoce.web.health import HealthHandlers
from sottovoce.web.metrics import Metrics
from sottovoce.web.problems import RequestError
from sottovoce.web.settings import Settings
from sottovoce.web.uploads import JSON, as_json, decoded
from sottovoce.wire import codec

TOML, CSV = "application/toml", "text/csv"
_RUNNING_QUERIES = 2  # at once: each may use all cores and hold all reports of a task
_WAITING_QUERIES = 8  # of one token
_WAITING_TOKENS = 100
_BRIEFLY = "public, max-age=10"  # for lists that grow
Answer = TypeVar("Answer")
_ARRIVALS = 6 * 3600  # seconds of arrival counts in a status


class Api(ShuffleHandlers, HealthHandlers):
    """One method for every operation of the table that names this class as its home."""

    def __init__(
        self, collector: Collector, intake: Intake, settings: Settings, metrics: Metrics
    ) -> None:
        ShuffleHandlers.__init__(self, collector, settings)
        HealthHandlers.__init__(self, collector.store.check, metrics.text)
        self.intake = intake
        self.metrics = metrics
        self.query_workers = QueryWorkers(
            settings.data, settings.database, settings.query_seconds, Resources.of(settings)
        )
        self.answering = Answering(collector, self.query_workers, settings.query_seconds)
        self._turns = _turns(settings)

    async def list_tasks(self, request: Request) -> Response:
        return json_response(
            wire.TaskList([_line(published) for published in self.collector.tasks()])
        )

    async def create_task(self, request: Request) -> Response:
        kind = media_type(request, (JSON, TOML))
        text = _text(await bodies.whole(request.receive))
        published, new = await run_in_threadpool(self.collector.create, text, toml=kind == TOML)
        concerns = list(published.concerns)
        created = wire.Created(published.record.name, published.digest, new, concerns)
        return json_response(created, status=201 if new else 200)

    async def get_task(self, request: Request) -> Response:
        published = self._published(request)
        return tagged(request, published.digest, published.record.document.encode())

    async def get_round(self, request: Request) -> Response:
        published = self._published(request)
        taking = published.last.state in TAKING and published.record.finished is None
        document = msgspec.Raw(published.last.document.encode()) if taking else None
        current = wire.Current(published.digest, published.state, document)
        tag = f"{published.digest}-{published.last.number}-{published.state}"
        return tagged(request, tag, as_json(current))

    async def list_rounds(self, request: Request) -> Response:
        published = self._published(request)
        lines = [
            wire.AskedRound(record.number, _sha256(record.document)) for record in published.rounds
        ]
        content = as_json(wire.AskedRounds(published.digest, lines))
        # The latest digest stands for all: rounds are only ever added.
        tag = f"{published.digest}-{lines[-1].number}-{lines[-1].sha256}"
        return tagged(request, tag, content, _BRIEFLY)

    async def get_asked_round(self, request: Request) -> Response:
        published = self._published(request)
        number = request.path_params["number"]
        for record in published.rounds:
            if str(record.number) == number:
                document = record.document
                return tagged(request, _sha256(document), document.encode(), FOR_EVER)
        raise RequestError("not-found", "this task has not asked a round of this number")

    async def get_answer(self, request: Request) -> Response:
        published = self._published(request)
        query = request.query_params
        marginal = tuple(query.getlist("marginal"))
        fakes = fakes_of(query.get("fakes", ""))
        defence = query.get("defence", "none")
        options = AnswerOptions(_method(request), _level(request), marginal, fakes, defence)
        csv_wanted = _wants_csv(request)
        answer = await self.released(request, published, options)
        return answer_response(answer, csv=csv_wanted)

    async def released(
        self, request: Request, published: Published, options: AnswerOptions
    ) -> Release:
        """Return the answer of a task as it may be shown."""
        outcome = await self.outcome(request, published, options.defence)
        return await run_in_threadpool(released, self.collector, published, options, outcome)

    async def outcome(self, request: Request, published: Published, defence: str) -> Outcome:
        """Return the answer of a task, computed wherever it should be, unless the client leaves."""
        return await unless_gone(request.receive, self.answering.outcome(published, defence))

    async def get_integrity(self, request: Request) -> Response:
        published = self._published(request)
        return json_response(await run_in_threadpool(released_integrity, self.collector, published))

    async def ask_sql(self, request: Request) -> Response:
        media_type(request, (JSON,))
        wanted = decoded(wire.sql_request, await bodies.whole(request.receive))
        asked = queries.QueryRequest(wanted.sql, wanted.level, wanted.users, wanted.fakes)
        published = self.collector.find(wanted.task)
        answer = await self._in_turn(request, published, asked, self.query_workers.answer_json)
        return Response(answer, media_type=JSON)

    async def answered(
        self, request: Request, published: Published, asked: queries.QueryRequest
    ) -> queries.Released | Explanation:
        """Return the answer to a query in SQL, or how it would be answered."""
        return await self._in_turn(request, published, asked, self.query_workers.answer)

    async def _in_turn(
        self,
        request: Request,
        published: Published,
        asked: queries.QueryRequest,
        answer: Callable[[str, queries.QueryRequest, Query], Coroutine[Any, Any, Answer]],
    ) -> Answer:
        """Return what ``answer`` makes of a query when it is the turn of its token.

        The queries of one token are answered one after another.  A query whose client has gone is
        ended.
        """
        # What is wrong with a query is said without waiting.
        query = await run_in_threadpool(asked.query, published.task.plan)

        async def wait_and_answer() -> Answer:
            async with AsyncExitStack() as stack:
                try:
                    async with asyncio.timeout(self.settings.query_seconds):
                        await stack.enter_async_context(self._turns.turn(request.scope["token"]))
                except TimeoutError:
                    raise RequestError("query-timeout", "too many queries were before it") from None
                return await answer(published.record.name, asked, query)

        return await unless_gone(request.receive, wait_and_answer())

    async def get_status(self, request: Request) -> Response:
        return json_response(await run_in_threadpool(self.status, self._published(request)))

    def status(self, published: Published) -> wire.Status:
        """Return the progress of a task as the store has it now."""
        store, digest = self.collector.store, published.digest
        rounds = [_round_line(store, published, record) for record in store.rounds(digest)]
        arrivals = store.arrivals(digest, self.collector.now - _ARRIVALS)
        record = published.record
        return wire.Status(
            record.name,
            digest,
            published.shown_state,
            record.failure,
            record.trouble,
            rounds,
            store.refusals(digest),
            arrivals,
        )

    async def close_task(self, request: Request) -> Response:
        published = self._published(request)
        at_once = _flag(request, "at_once")
        if not _flag(request, "force"):
            await run_in_threadpool(self.collector.refresh)
            self.collector.find(published.record.name).check_enough_users()
        name = published.record.name
        if not await run_in_threadpool(self.collector.close, name, at_once=at_once):
            raise StateError("this task has no round to close")
        return json_response(await run_in_threadpool(self.status, self.collector.find(name)))

    async def issue_tokens(self, request: Request) -> Response:
        media_type(request, (JSON,))
        wanted = decoded(wire.token_request, await bodies.whole(request.receive))
        tokens = await run_in_threadpool(self._issue, wanted)
        return json_response(wire.TokenList(wanted.scope, tokens), status=201)

    def _issue(self, wanted: wire.TokenRequest) -> list[str]:
        batch = access.TokenBatch(wanted.count, wanted.days * DAY or None)
        store, now = self.collector.store, self.collector.now
        return access.issue(store, wanted.scope, now, label=wanted.label, batch=batch)

    async def list_tokens(self, request: Request) -> Response:
        records = await run_in_threadpool(self.collector.store.tokens)
        return json_response(wire.TokenLines([_token_line(record) for record in records]))

    async def revoke_token(self, request: Request) -> Response:
        if not await run_in_threadpool(
            access.revoke, self.collector.store, request.path_params["id"]
        ):
            raise RequestError("not-found", "there is no such token")
        return Response(status_code=204)

    async def get_openapi(self, request: Request) -> Response:
        return json_response(openapi.document(TITLE, OPERATIONS, self.settings.root_path))


def _turns(settings: Settings) -> QueryQueue | SharedTurns:
    """Return the turns of queries; several workers share them."""
    if settings.workers == 1:
        return QueryQueue(_RUNNING_QUERIES, _WAITING_QUERIES, _WAITING_TOKENS)
    own = QueryQueue(_WAITING_TOKENS, _WAITING_QUERIES, _WAITING_TOKENS)
    return SharedTurns(settings.data / "turns", _RUNNING_QUERIES, own)


def _flag(request: Request, name: str) -> bool:
    """Return a parameter of a request that is true or false, false if it is not given."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise ParameterError(f"`{name}` must be true or false")
    return text == "true"


def _line(published: Published) -> wire.TaskLine:
    task = published.task
    return wire.TaskLine(
        task.name, published.digest, task.description, repr(task.epsilon), published.state
    )


def _round_line(store: Store, published: Published, record: RoundRecord) -> wire.RoundLine:
    return wire.RoundLine(
        number=record.number,
        state=record.state.value,
        opened=record.opened,
        users=published.users_of(record),
        count=record.count,
        checksum=record.checksum,
        erased=record.erased is not None,
        shuffle=shuffle_status.line_of(store, published, record),
    )


def _token_line(record: TokenRecord) -> wire.TokenLine:
    identity = access.identity(record)
    return wire.TokenLine(identity, record.scope, record.label, record.created, record.expires)


def answer_response(answer: Release, *, csv: bool) -> Response:
    """Return a released answer as CSV or as JSON."""
    return Response(answer.to_csv(), media_type=CSV) if csv else json_response(answer.content)


def _sha256(document: str) -> str:
    """Return the SHA-256 of a canonical document in hex, as anybody computes it from the text."""
    return codec.fingerprint(document).hex()


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
