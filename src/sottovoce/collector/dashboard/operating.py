"""Pages for operators: check and publish a task, close a round, hand out and revoke tokens.

They need the session of an operator's token, and take forms of this collector's own pages only.  A
new token is shown once, on the page that answers the form.
"""

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sottovoce.collector import access, taskfile
from sottovoce.collector.collector import DAY
from sottovoce.collector.dashboard import formatting, progress, sessions, statement
from sottovoce.collector.published import Published
from sottovoce.collector.store.base import State, TokenRecord
from sottovoce.collector.task_check import TaskCheck
from sottovoce.errors import AccessError, ParameterError, SottovoceError, StateError
from sottovoce.wire import codec

if TYPE_CHECKING:
    from sottovoce.collector.api import Api
    from sottovoce.collector.dashboard.pages import Pages

Facts = dict[str, Any]

SCOPES = {
    access.ANALYST: "analyst: reads answers",
    access.OPERATOR: "operator: publishes, closes and hands out tokens",
    access.ENROLMENT: "enrolment: lets one device answer",
}
_LARGEST_TASK = 1 << 20  # bytes of a form with a task file
_MAX_LABEL = 200
_MAX_DAYS = 36_500


def routes(pages: "Pages", api: "Api") -> list[BaseRoute]:
    """Return the routes of operators."""
    operating = OperatorPages(pages, api)

    def guarded(path: str, handler: Any, *methods: str) -> Route:
        return Route(path, pages.guarded("operate", handler), methods=[*methods])

    return [
        guarded("/operate", operating.show, "GET"),
        guarded("/operate/task", operating.task, "POST"),
        guarded("/operate/tokens", operating.issue, "POST"),
        guarded("/operate/tokens/revoke", operating.revoke, "POST"),
        guarded("/tasks/{name}/close", operating.close, "POST"),
    ]


class OperatorPages:
    """One method for every form of an operator."""

    def __init__(self, pages: "Pages", api: "Api") -> None:
        self._pages = pages
        self._api = api

    async def show(self, request: Request) -> Response:
        """Show the forms."""
        await self._check_operator(request)
        return await self._page(request)

    async def task(self, request: Request) -> Response:
        """Check the task file of a form, or publish it."""
        form = await self._operator_form(request, _LARGEST_TASK)
        text = form.get("text", "").replace("\r\n", "\n")
        toml = not text.lstrip().startswith("{")
        try:
            if form.get("action") == "publish":
                create = self._api.collector.create
                published, _ = await run_in_threadpool(create, text, toml=toml)
                return self._pages.redirect(progress.path(published.record.name))
            checked = await run_in_threadpool(_checked, text, toml=toml)
        except (SottovoceError, ValueError) as error:
            return await self._page(request, 400, text=text, refused=str(error))
        return await self._page(request, text=text, checked=checked)

    async def close(self, request: Request) -> Response:
        """Close the open round of a task."""
        form = await self._operator_form(request)
        collector = self._api.collector
        name = request.path_params["name"]
        await run_in_threadpool(collector.refresh)
        if form.get("force") != "yes":
            collector.find(name).check_enough_users()
        if not await run_in_threadpool(collector.close, name, at_once=form.get("now") == "yes"):
            raise StateError("this task has no round to close")
        return self._pages.redirect(progress.path(name))

    async def issue(self, request: Request) -> Response:
        """Issue one token and show it, once."""
        form = await self._operator_form(request)
        scope, label = form.get("scope", ""), form.get("label", "").strip()
        if scope not in SCOPES:
            raise ParameterError(f"`scope` must be one of {', '.join(SCOPES)}")
        if len(label) > _MAX_LABEL:
            raise ParameterError(f"`label` must have at most {_MAX_LABEL} characters")
        batch = access.TokenBatch(seconds=_days(form.get("days", "")) * DAY or None)
        store, now = self._api.collector.store, self._api.collector.now

        def issue() -> str:
            return access.issue(store, scope, now, label=label, batch=batch)[0]

        token = await run_in_threadpool(issue)
        return await self._page(request, token={"scope": scope, "text": token})

    async def revoke(self, request: Request) -> Response:
        """Revoke a token."""
        form = await self._operator_form(request)
        store = self._api.collector.store
        if not await run_in_threadpool(access.revoke, store, form.get("id", "")):
            raise ParameterError("`id` must be that of a listed token")
        return self._pages.redirect("/operate#tokens")

    async def _operator_form(self, request: Request, largest: int | None = None) -> dict[str, str]:
        sessions.check_origin(request)
        await self._check_operator(request)
        return await self._pages.form(request, *([] if largest is None else [largest]))

    async def _check_operator(self, request: Request) -> None:
        if not await run_in_threadpool(is_operator, self._api, request):
            raise AccessError("this page needs the token of an operator: log out and in again")

    async def _page(self, request: Request, status: int = 200, **facts: Any) -> Response:
        records = await run_in_threadpool(self._api.collector.store.tokens)
        shown: Facts = {"text": "", "checked": None, "refused": "", "token": None, **facts}
        own = request.scope["token"][:12]
        return await self._pages.page(
            "operate.html",
            status,
            scopes=list(SCOPES.items()),
            tokens=[_token_facts(record, own) for record in records],
            **shown,
        )


def is_operator(api: "Api", request: Request) -> bool:
    """Return whether a session was opened with the token of an operator."""
    opened_by = bytes.fromhex(request.scope["token"])
    record = api.collector.store.token(opened_by, api.collector.now)
    return record is not None and record.scope == access.OPERATOR


def closing(published: Published) -> Facts | None:
    """Return what the form that closes a round shows; nothing where no round is open."""
    last = published.last
    if last.state is not State.OPEN or published.record.finished is not None:
        return None
    few = max(published.collection.minimum - published.users_of(last), 0)
    return {"round": last.number, "missing": formatting.count(few) if few else ""}


def _checked(text: str, *, toml: bool) -> Facts:
    """Return what a task would ask and give."""
    task = taskfile.read(text, toml=toml)
    check = TaskCheck.of(task, None)
    notice = codec.notice(codec.document(task))
    return {
        "name": task.name,
        "digest": notice.digest,
        "statement": statement.lines(notice),
        "integrity": statement.integrity_line(notice, task.moved_numbers),
        "users": formatting.count(check.users),
        "advice": str(check.advice),
        "concerns": check.concerns,
    }


def _token_facts(record: TokenRecord, own: str) -> Facts:
    identity = access.identity(record)
    expires = "never" if record.expires is None else formatting.moment(record.expires)
    return {
        "id": identity,
        "scope": record.scope,
        "label": record.label,
        "created": formatting.moment(record.created),
        "expires": expires,
        "own": identity == own,
    }


def _days(text: str) -> int:
    """Return for how many days a token is valid; 0 is for ever."""
    if not text:
        return 0
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) <= _MAX_DAYS:
        raise ParameterError(f"`days` must be a whole number from 1 to {_MAX_DAYS}, or empty")
    return int(text)
