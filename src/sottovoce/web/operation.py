"""One operation of an HTTP service: routes and OpenAPI document are made from it."""

from dataclasses import dataclass
from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
OBJECT: dict[str, Any] = {"type": "object"}


@dataclass(frozen=True)
class Parameter:
    """A parameter in the path or the query of a request."""

    name: str
    location: str  # path or query
    about: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """One method on one path.

    ``handler`` is the name of the operation, and of the method of the service's API class that
    serves it.  An operation that is served elsewhere names that class in ``home``, as
    ``module:Class``.  ``scope`` is what a token must allow (empty: anybody).
    """

    method: str
    path: str
    handler: str
    summary: str
    response: Any
    scope: str = ""
    body: Any = None
    types: tuple[str, ...] = ("application/json",)  # content types that a body may have
    produces: tuple[str, ...] = ("application/json",)
    parameters: tuple[Parameter, ...] = ()
    status: int = 200
    problems: tuple[str, ...] = ()
    shared: bool = False  # whether pages of other origins may call it
    statuses: tuple[tuple[int, str], ...] = ()  # further good statuses, each with what it means
    home: str = ""  # the class that serves it, if that is not the API class of the service


# What every service answers about itself.
SERVICE_OPERATIONS = (
    Operation("GET", "/v1/openapi.json", "get_openapi", "Get this document.", OBJECT, shared=True),
    Operation(
        "GET",
        "/errors",
        "get_errors",
        "Get the catalogue of errors, which the types of problem documents point to.",
        TEXT,
        produces=("text/html",),
        shared=True,
    ),
    Operation(
        "GET",
        "/healthz",
        "healthz",
        "Return whether the process is alive.",
        TEXT,
        produces=("text/plain",),
    ),
    Operation(
        "GET",
        "/readyz",
        "readyz",
        "Return whether the store can write.",
        TEXT,
        produces=("text/plain",),
        problems=("unavailable",),
    ),
    Operation(
        "GET",
        "/metrics",
        "get_metrics",
        "Get metrics for Prometheus.",
        TEXT,
        produces=("text/plain",),
    ),
)
