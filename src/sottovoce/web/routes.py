"""The routes of a service, made from its table of operations; every error is a problem document."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from sottovoce.errors import SottovoceError
from sottovoce.web.door import Door
from sottovoce.web.operation import Operation
from sottovoce.web.problem_response import respond
from sottovoce.web.problems import RequestError
from sottovoce.web.root_path import RootPath

_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "content-type, if-none-match",
    "access-control-max-age": "86400",
}
_log = logging.getLogger(__name__)

Admit = Callable[[Request, str], Awaitable[None]]  # checks the token that a scope needs


class Application(Starlette):
    """Starlette behind a door, outside of its own layers, so that uploads can pass these by.

    ``root_path`` is where a proxy serves the application.
    """

    def __init__(
        self, door: Callable[[ASGIApp], Door], root_path: str = "", **options: Any
    ) -> None:
        handlers = {SottovoceError: _refused, HTTPException: _not_here, Exception: _broken}
        super().__init__(exception_handlers=handlers, **options)
        self.door = door(super().build_middleware_stack())
        self.root_path = root_path

    def build_middleware_stack(self) -> ASGIApp:
        return RootPath(self.door, self.root_path)


def routes(api: Any, operations: Sequence[Operation], admit: Admit) -> list[Route]:
    """Return one route per path; operations with another home are served before the router."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    served = []
    for path, of_path in by_path.items():
        here = [method for method, operation in of_path.items() if not operation.home]
        served.append(Route(path, _endpoint(api, of_path, admit), methods=[*here, "OPTIONS"]))
    return served


def _endpoint(api: Any, operations: dict[str, Operation], admit: Admit) -> Any:
    """Return the handler of one path, which checks the token that an operation needs."""
    methods = {**operations, **({"HEAD": operations["GET"]} if "GET" in operations else {})}

    async def endpoint(request: Request) -> Response:
        if request.method == "OPTIONS":
            shared = any(operation.shared for operation in operations.values())
            request.scope["shared"] = shared
            return Response(
                status_code=204, headers=_PREFLIGHT if shared else {"allow": ", ".join(operations)}
            )
        operation = methods[request.method]
        request.scope["operation"] = operation
        if operation.scope:
            await admit(request, operation.scope)
        response: Response = await getattr(api, operation.handler)(request)
        return response

    return endpoint


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, SottovoceError)
    return _problem(request, error)


async def _not_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "malformed-request")
    response = _problem(request, RequestError(code))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


async def _broken(request: Request, error: Exception) -> Response:
    _log.error("request", exc_info=error)
    return _problem(request, SottovoceError())


def _problem(request: Request, error: SottovoceError) -> Response:
    application: Application = request.app
    return respond(error, application.root_path)
