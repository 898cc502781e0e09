"""The pages of the dashboard; all of them work without scripts."""

import logging
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from sottovoce.answers.outcome import Outcome
from sottovoce.collector.api import Api, answer_response
from sottovoce.collector.dashboard import (
    integrity,
    operating,
    pairs,
    progress,
    queries,
    results,
    sessions,
    statement,
)
from sottovoce.collector.dashboard.assets import HEADERS, Assets
from sottovoce.collector.published import Published
from sottovoce.collector.queries import QueryRequest, Released
from sottovoce.collector.release import fakes_of, level_of, released, released_views
from sottovoce.errors import (
    AccessError,
    ParameterError,
    SottovoceError,
    StateError,
    UnavailableError,
)
from sottovoce.plans.tables.result import Explanation
from sottovoce.sql.errors import QueryError
from sottovoce.web import bodies, problems
from sottovoce.web.problems import RequestError
from sottovoce.web.uploads import as_json
from sottovoce.wire import codec

Handler = Callable[[Request], Awaitable[Response]]
Facts = dict[str, Any]

_LARGEST_FORM = 4096  # bytes: a token and where to go
_LARGEST_QUESTION = 1 << 17  # bytes of a form with a SQL query; a letter may take twelve
_FORM = "application/x-www-form-urlencoded"
_log = logging.getLogger(__name__)


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes of the dashboard over a collector."""
    pages = Pages(api)
    task = "/tasks/{name}"
    return [
        Route("/", pages.guarded("tasks", pages.tasks)),
        Route("/login", pages.anyone("login", pages.login), methods=["GET", "POST"]),
        Route("/logout", pages.anyone("logout", pages.logout), methods=["POST"]),
        Route("/static/{name}", pages.anyone("static", pages.static)),
        Route(f"{task}/live", pages.guarded("live", pages.live)),
        Route(f"{task}/answer.json", pages.guarded("download", pages.download)),
        Route(f"{task}/answer.csv", pages.guarded("download", pages.download)),
        Route(f"{task}/integrity", pages.guarded("integrity", pages.integrity)),
        Route(f"{task}/sql", pages.guarded("sql", pages.sql), methods=["GET", "POST"]),
        Route(task, pages.guarded("task", pages.task)),
        *operating.routes(pages, api),
        Unknown("/{path:path}", pages.anyone("unknown", pages.unknown)),
    ]


class Unknown(Route):
    """The page for unknown addresses, if a browser asks; programs get problem documents."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return no match for programs."""
        browser = any(
            name == b"accept" and b"text/html" in value for name, value in scope.get("headers", ())
        )
        program = scope.get("path", "").startswith("/v1/") or scope.get("method") not in (
            "GET",
            "HEAD",
        )
        return super().matches(scope) if browser and not program else (Match.NONE, {})


class Pages:
    """One method per page."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._root_path = api.settings.root_path
        self._assets = Assets(self._root_path)

    def anyone(self, name: str, handler: Handler) -> Handler:
        """Return a handler for everybody; a refusal becomes a page too."""

        async def endpoint(request: Request) -> Response:
            request.scope["page"] = name
            try:
                response = await handler(request)
            except SottovoceError as error:
                response = self._problem(problems.problem_of(error), str(error))
            except Exception as error:
                _log.error("page", exc_info=error)
                response = self._problem(problems.CATALOGUE["internal"])
            for header, value in HEADERS.items():
                response.headers.setdefault(header, value)
            return response

        return endpoint

    def guarded(self, name: str, handler: Handler) -> Handler:
        """Return a handler for people who have logged in; others are sent to the log-in page."""

        async def endpoint(request: Request) -> Response:
            return await handler(request) if await self.known(request) else self._away(request)

        return self.anyone(name, endpoint)

    async def known(self, request: Request) -> bool:
        """Return whether somebody has logged in."""
        store, now = self._api.collector.store, self._api.collector.now
        try:
            session = request.cookies.get(sessions.COOKIE)
            request.scope["token"] = await run_in_threadpool(sessions.check, store, session, now)
        except UnavailableError:
            raise
        except SottovoceError:
            return False
        return True

    async def tasks(self, request: Request) -> Response:
        """List the tasks, the newest first."""
        newest_first = self._api.collector.tasks()[::-1]
        lines = [
            {**progress.task(published, number), "path": self._path(published)}
            for number, published in enumerate(newest_first)
        ]
        operator = await run_in_threadpool(operating.is_operator, self._api, request)
        return await self.page("tasks.html", tasks=lines, operator=operator)

    async def task(self, request: Request) -> Response:
        """Show a task: its promises, its progress and its answer."""
        published = self._find(request)
        wanted = results.Shown.of(request.query_params, published.task.plan)
        answer = await self._answer(request, published, wanted)
        facts = await run_in_threadpool(self._task, published, wanted)
        operator = await run_in_threadpool(operating.is_operator, self._api, request)
        closing = operating.closing(published) if operator else None
        return await self.page("task.html", **facts, answer=answer, closing=closing)

    def _task(self, published: Published, wanted: results.Shown) -> Facts:
        record, task = published.record, published.task
        notice = codec.notice(codec.parse(record.document))
        return {
            **self._live(published),
            "name": record.name,
            "path": self._path(published),
            "description": task.description,
            "digest": record.digest,
            "state": published.shown_state,
            "sandbox": published.collection.sandbox,
            "concerns": published.concerns,
            "statement": statement.lines(notice),
            "integrity": statement.integrity_line(notice, task.moved_numbers),
            "implausible": integrity.banner(self._api.collector.integrity(published)),
            "wanted": wanted,
            "choices": wanted.choices(task.plan),
            "early": record.finished is None,
            "answers_sql": task.plan.answers_sql,
        }

    def _live(self, published: Published) -> Facts:
        api = self._api
        facts = progress.live(published, api.status(published), api.collector.now)
        have = sha256(repr(facts).encode()).hexdigest()[:12]
        seen = progress.mark(published)
        poll = f"{self._path(published)}/live?seen={seen}&have={have}"
        return {"live": facts, "poll": poll, "mark": seen, "have": have}

    async def _answer(self, request: Request, published: Published, wanted: results.Shown) -> Facts:
        """Return the parts of an answer, or why there is none."""
        try:
            outcome = await self._api.outcome(request, published, wanted.options.defence)
            return await run_in_threadpool(self._answered, published, wanted, outcome)
        except StateError:
            return {"kind": "waiting", "reason": results.missing(published)}
        except UnavailableError:
            raise
        except SottovoceError as error:
            code = problems.problem_of(error).code
            if code == "disconnected":
                raise
            if code == "query-timeout":
                return {"kind": "waiting", "reason": results.COMPUTING}
            if code == "too-few-users":
                return {"kind": "withheld", "reason": str(error)}
            return {
                "kind": "failed" if published.record.failure else "refused",
                "reason": str(error),
            }

    def _answered(self, published: Published, wanted: results.Shown, outcome: Outcome) -> Facts:
        """Return the parts of an answer that has been computed."""
        answer = released(self._api.collector, published, wanted.options, outcome)
        return {
            "kind": "answered",
            **results.sections(answer.content, published.task.plan, wanted),
            **self._beside(published, wanted, outcome),
        }

    def _beside(self, published: Published, wanted: results.Shown, outcome: Outcome) -> Facts:
        """Return what an outcome shows beside its rows."""
        views = released_views(published, outcome, wanted.options.marginal)
        return {
            "pairs": pairs.shown(views.pairs, self._path(published), wanted.query_of_numbers),
            "remarks": views.remarks,
        }

    async def live(self, request: Request) -> Response:
        """Return the parts that change, or make the browser load the whole page again."""
        published = self._find(request)
        facts = await run_in_threadpool(self._live, published)
        if request.query_params.get("seen", facts["mark"]) != facts["mark"]:
            return Response(status_code=204, headers={"hx-refresh": "true"})
        if request.query_params.get("have") == facts["have"]:
            return Response(status_code=204)
        return await self.page("live.html", **facts)

    async def download(self, request: Request) -> Response:
        """Return the answer as a file."""
        published = self._find(request)
        shown = results.Shown.of(request.query_params, published.task.plan)
        kind = request.url.path.rpartition(".")[2]
        answer = await self._api.released(request, published, shown.options)
        response = answer_response(answer, csv=kind == "csv")
        name = quote(request.path_params["name"], safe="")
        response.headers["content-disposition"] = (
            f"attachment; filename=\"answer.{kind}\"; filename*=UTF-8''{name}.{kind}"
        )
        return response

    async def integrity(self, request: Request) -> Response:
        """Show the tests of all sealed rounds."""
        published = self._find(request)
        rounds = await run_in_threadpool(self._api.collector.integrity, published)
        name = published.record.name
        facts = integrity.shown(published, rounds)
        return await self.page("integrity.html", name=name, path=self._path(published), **facts)

    async def sql(self, request: Request) -> Response:
        """Show the form for SQL queries, and the answer to the query that was sent."""
        published = self._find(request)
        if not published.task.plan.answers_sql:
            raise RequestError("not-found")
        if request.method != "POST":
            shown = request.query_params
            level = level_of(shown["level"]) if shown.get("level") else None
            asked = QueryRequest(
                shown.get("sql", ""), level, fakes=fakes_of(shown.get("fakes", ""))
            )
            return await self.page("sql.html", **self._asking(published, asked) | {"address": ""})
        sessions.check_origin(request)
        form = await self.form(request, _LARGEST_QUESTION)
        level = level_of(form["level"]) if "level" in form else None
        fakes = fakes_of(form.get("fakes", ""))
        asked = QueryRequest(form.get("sql", "").replace("\r\n", "\n"), level, fakes=fakes)
        facts = self._asking(published, asked)
        try:
            answer = await self._api.answered(request, published, asked)
        except SottovoceError as error:
            problem = problems.problem_of(error)
            if problem.status >= 500:
                raise
            return await self.page(
                "sql.html", problem.status, **facts | {"refused": _refusal(error)}
            )
        kind = form.get("format", "")
        if kind:
            return _file(answer, kind)
        return await self.page("sql.html", **facts | {"found": queries.shown(answer)})

    def _asking(self, published: Published, asked: QueryRequest) -> Facts:
        """Return what the page of questions shows around an answer."""
        name, plan = published.record.name, published.task.plan
        path = self._path(published)
        return {
            "name": name,
            "path": path,
            "columns": queries.columns(plan.domain),
            "examples": [
                (text, sql, f"{path}/sql?sql={quote(sql)}")
                for text, sql in queries.examples(plan.domain)
            ],
            "levels": queries.levels(asked.level),
            "fakes": "" if asked.fakes is None else f"{asked.fakes:g}",
            "question": asked.sql,
            "address": _address(path, asked) if asked.sql else "",
            "found": {"kind": ""},
            "refused": None,
        }

    async def login(self, request: Request) -> Response:
        """Show the form, or open a session for a valid token."""
        if request.method != "POST":
            target = sessions.local(request.query_params.get("next", "/"))
            if await self.known(request):
                return self.redirect(target)
            return await self.page("login.html", target=target, refused=False)
        sessions.check_origin(request)
        form = await self.form(request)
        target, seconds = sessions.local(form.get("next", "/")), self._api.settings.session
        store, now = self._api.collector.store, self._api.collector.now
        try:
            session = await run_in_threadpool(
                sessions.enter, store, form.get("token", "").strip(), now, seconds
            )
        except (AccessError, RequestError):
            return await self.page("login.html", 401, target=target, refused=True)
        response = self.redirect(target)
        sessions.remember(response, request, session, seconds, self._root_path)
        return response

    async def logout(self, request: Request) -> Response:
        """End the session in the store and in the browser."""
        sessions.check_origin(request)
        store, now = self._api.collector.store, self._api.collector.now
        await run_in_threadpool(sessions.leave, store, request.cookies.get(sessions.COOKIE), now)
        response = self.redirect("/login")
        sessions.forget(response, request, self._root_path)
        return response

    async def static(self, request: Request) -> Response:
        """Return the style sheet, a script or the icon."""
        return self._assets.file(request.path_params["name"])

    async def unknown(self, request: Request) -> Response:
        """Say that there is no such page."""
        raise RequestError("not-found")

    async def form(self, request: Request, largest: int = _LARGEST_FORM) -> dict[str, str]:
        """Return the fields of a form that was sent; empty ones are left out."""
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != _FORM:
            raise RequestError(
                "unsupported-media", "a form must be sent as application/x-www-form-urlencoded"
            )
        body = await bodies.whole(request.receive)
        if len(body) > largest:
            raise RequestError("too-large", f"a form has at most {largest} bytes")
        try:
            fields = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=8)
        except ValueError:
            raise RequestError("malformed-request", "the body is not a form") from None
        return {name: values[0] for name, values in fields.items()}

    def redirect(self, path: str) -> Response:
        """Send a browser to a path of this collector."""
        return RedirectResponse(self._root_path + path, status_code=303)

    def _away(self, request: Request) -> Response:
        target = sessions.login_path(request)
        if "hx-request" in request.headers:  # the whole page goes to the log-in, not a part of it
            return Response(status_code=401, headers={"hx-redirect": self._root_path + target})
        return self.redirect(target)

    def _path(self, published: Published) -> str:
        """Return the address of a task's page."""
        return self._root_path + progress.path(published.record.name)

    def _find(self, request: Request) -> Published:
        return self._api.collector.find(request.path_params["name"])

    async def page(self, template: str, status: int = 200, **facts: Any) -> Response:
        """Return a page made from a template."""
        return await run_in_threadpool(self._assets.page, template, status, **facts)

    def _problem(self, problem: problems.Problem, detail: str = "") -> Response:
        shown = "" if problem.code == "internal" or detail == problem.title else detail
        return self._assets.page("problem.html", problem.status, problem=problem, detail=shown)


def _address(path: str, asked: QueryRequest) -> str:
    """Return the address of the page with a question filled in."""
    parts = {"sql": asked.sql, "level": asked.level, "fakes": asked.fakes}
    given = {name: part for name, part in parts.items() if part not in (None, "")}
    return f"{path}/sql?{urlencode(given)}"


def _refusal(error: SottovoceError) -> Facts:
    """Return why a query has no answer, and where in it."""
    place = queries.pointed(error) if isinstance(error, QueryError) else None
    return {"title": problems.problem_of(error).title, "reason": str(error), "place": place}


def _file(answer: Released | Explanation, kind: str) -> Response:
    """Return an answer as a file."""
    if kind not in ("json", "csv") or (kind == "csv" and isinstance(answer, Explanation)):
        raise ParameterError("`format` must be json or csv, and json for an explanation")
    if isinstance(answer, Released) and kind == "csv":
        response = Response(answer.result.to_csv(), media_type="text/csv")
    else:
        response = Response(as_json(answer.to_dict()), media_type="application/json")
    response.headers["content-disposition"] = f'attachment; filename="answer.{kind}"'
    return response
