"""The routes of the collector as a table: the application and its OpenAPI document are both made from it."""

from typing import Any

from sottovoce.collector import access, wire
from sottovoce.postprocess.apply import methods
from sottovoce.web.operation import Operation, Parameter

TITLE = "Sottovoce collector"
_UNCHANGED = (304, "Not modified since the ETag that was sent.")
TEXT: dict[str, Any] = {"type": "string"}
OBJECT: dict[str, Any] = {"type": "object"}
METHODS = ("none", *methods())

_name = Parameter("name", "path", "The name of the task.", {"type": "string", "minLength": 1, "maxLength": 200})
_method = Parameter(
    "method",
    "query",
    "A step of post-processing; raw estimates without one.",
    {"type": "string", "enum": list(METHODS)},
)
_level = Parameter(
    "level", "query", "The confidence level of the intervals.", {"type": "number", "minimum": 0.5, "maximum": 0.9999}
)
_marginal = Parameter(
    "marginal",
    "query",
    "Of a task about joint tables, the table of these attributes: names with commas between them, or the parameter "
    "once for each. Without it, the tables of single attributes and of pairs.",
    TEXT,
)
_now = Parameter("at_once", "query", "Close without grace for late reports.", {"type": "boolean"})
_token = Parameter("id", "path", "The id of a token, as listed.", {"type": "string", "pattern": "^[0-9a-f]{12}$"})

OPERATIONS = (
    Operation("GET", "/v1/tasks", "list_tasks", "List the tasks of this collector.", wire.TaskList, shared=True),
    Operation(
        "POST",
        "/v1/tasks",
        "create_task",
        "Publish a task from a task file.",
        wire.Created,
        access.OPERATOR,
        OBJECT,
        ("application/json", "application/toml"),
        status=201,
        statuses=((200, ""),),
        problems=("malformed-request", "invalid", "conflict", "too-large", "unsupported-media"),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}",
        "get_task",
        "Get the immutable document of a task; its digest is the ETag.",
        OBJECT,
        parameters=(_name,),
        problems=("not-found",),
        shared=True,
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/round",
        "get_round",
        "Get the round that takes reports now.",
        wire.Current,
        parameters=(_name,),
        problems=("not-found",),
        shared=True,
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "POST",
        "/v1/tasks/{name}/reports",
        "upload",
        "Send messages of devices; what is accepted is durable.",
        wire.UploadReceipt,
        body=wire.Upload,
        types=("application/json", "application/msgpack"),
        produces=("application/json", "application/msgpack"),
        parameters=(_name,),
        problems=("malformed-request", "not-found", "too-large", "unsupported-media", "busy", "unavailable"),
        shared=True,
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/answer",
        "get_answer",
        "Get the answer with intervals; parts with too few users are suppressed.",
        OBJECT,
        access.ANALYST,
        produces=("application/json", "text/csv"),
        parameters=(_name, _method, _level, _marginal),
        problems=("invalid", "not-found", "no-data", "not-acceptable", "conflict", "not-ready", "too-few-users"),
    ),
    Operation(
        "POST",
        "/v1/sql",
        "ask_sql",
        "Ask a question in SQL of a task about tables, or how it would be answered (EXPLAIN).",
        OBJECT,
        access.ANALYST,
        wire.SqlRequest,
        problems=(
            *("malformed-request", "invalid", "query", "not-found", "no-data", "conflict", "not-ready"),
            *("too-few-users", "too-large", "unsupported-media", "unavailable"),
        ),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/status",
        "get_status",
        "Get the progress of a collection.",
        wire.Status,
        access.ANALYST,
        parameters=(_name,),
        problems=("not-found",),
    ),
    Operation(
        "POST",
        "/v1/tasks/{name}/close",
        "close_task",
        "Close the open round of a task.",
        wire.Status,
        access.OPERATOR,
        parameters=(_name, _now),
        problems=("invalid", "not-found", "not-ready"),
    ),
    Operation(
        "POST",
        "/v1/tokens",
        "issue_tokens",
        "Issue tokens; they are shown once.",
        wire.TokenList,
        access.OPERATOR,
        wire.TokenRequest,
        status=201,
        problems=("malformed-request", "too-large", "unsupported-media"),
    ),
    Operation("GET", "/v1/tokens", "list_tokens", "List the tokens of people.", wire.TokenLines, access.OPERATOR),
    Operation(
        "DELETE",
        "/v1/tokens/{id}",
        "revoke_token",
        "Revoke a token.",
        None,
        access.OPERATOR,
        parameters=(_token,),
        status=204,
        problems=("not-found",),
    ),
    Operation("GET", "/v1/openapi.json", "get_openapi", "Get this document.", OBJECT, shared=True),
    Operation("GET", "/healthz", "healthz", "Say that the process lives.", TEXT, produces=("text/plain",)),
    Operation(
        "GET",
        "/readyz",
        "readyz",
        "Say whether the store can write.",
        TEXT,
        produces=("text/plain",),
        problems=("unavailable",),
    ),
    Operation("GET", "/metrics", "get_metrics", "Get counters for Prometheus.", TEXT, produces=("text/plain",)),
)

UPLOAD = next(one for one in OPERATIONS if one.handler == "upload")
