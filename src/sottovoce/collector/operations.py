"""The operations of the collector as a table: its routes and its OpenAPI document are made from it.

``handler`` is a method of ``collector.api.Api``, unless an operation names another ``home``.
"""

from sottovoce.collector import access, wire
from sottovoce.collector.shuffle_operations import NAME, NUMBER, SHUFFLE_OPERATIONS
from sottovoce.integrity.choices import DEFENCES
from sottovoce.postprocess.apply import methods
from sottovoce.web.operation import OBJECT, SERVICE_OPERATIONS, TEXT, Operation, Parameter
from sottovoce.web.uploads import UploadReceipt

TITLE = "Sottovoce collector"
_UNCHANGED = (304, "Not modified since the ETag that was sent.")
METHODS = ("none", *methods())

_method = Parameter(
    "method",
    "query",
    "A post-processing method; without one the estimates are raw.",
    {"type": "string", "enum": list(METHODS)},
)
_level = Parameter(
    "level",
    "query",
    "The confidence level of the intervals.",
    {"type": "number", "minimum": 0.5, "maximum": 0.9999},
)
_fakes = Parameter(
    "fakes",
    "query",
    "A share of false reports: rows gain bounds that hold whatever so many reports say.",
    {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
)
_defence = Parameter(
    "defence",
    "query",
    "With `auto`, reports that cannot be honest are left out or get less weight, if a test of the "
    "round alarmed; the steps of the answer name what was done.",
    {"type": "string", "enum": list(DEFENCES)},
)
_marginal = Parameter(
    "marginal",
    "query",
    "For a task about joint tables: the attributes of the table to return. Separate names by "
    "commas, or repeat the "
    "parameter. Without it, all tables of single attributes and of pairs are returned.",
    TEXT,
)
_now = Parameter("at_once", "query", "Close without grace for late reports.", {"type": "boolean"})
_force = Parameter(
    "force", "query", "Close with too few users: the task then fails.", {"type": "boolean"}
)
_token = Parameter(
    "id", "path", "The id of a token, as listed.", {"type": "string", "pattern": "^[0-9a-f]{12}$"}
)

OPERATIONS = (
    Operation(
        "GET",
        "/v1/tasks",
        "list_tasks",
        "List the tasks of this collector.",
        wire.TaskList,
        shared=True,
    ),
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
        parameters=(NAME,),
        problems=("not-found",),
        shared=True,
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/round",
        "get_round",
        "Get the round that accepts reports now.",
        wire.Current,
        parameters=(NAME,),
        problems=("not-found",),
        shared=True,
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/rounds",
        "list_rounds",
        "List the rounds that devices were asked so far, each with the SHA-256 of its document.",
        wire.AskedRounds,
        parameters=(NAME,),
        problems=("not-found",),
        shared=True,
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/rounds/{number}",
        "get_asked_round",
        "Get the canonical document of a round; it never changes, and its SHA-256 is the ETag.",
        OBJECT,
        parameters=(NAME, NUMBER),
        problems=("not-found",),
        shared=True,
        statuses=(_UNCHANGED,),
    ),
    Operation(
        "POST",
        "/v1/tasks/{name}/reports",
        "upload",
        "Send messages of devices; accepted messages are durable.",
        UploadReceipt,
        body=wire.Upload,
        types=("application/json", "application/msgpack"),
        produces=("application/json", "application/msgpack"),
        parameters=(NAME,),
        problems=(
            "malformed-request",
            "forbidden",
            "not-found",
            "too-large",
            "unsupported-media",
            "busy",
            "unavailable",
        ),
        shared=True,
        home="sottovoce.collector.upload:Uploading",  # before the router, for speed
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/answer",
        "get_answer",
        "Get the answer with intervals; parts with too few users are suppressed.",
        OBJECT,
        access.ANALYST,
        produces=("application/json", "text/csv"),
        parameters=(NAME, _method, _level, _marginal, _fakes, _defence),
        problems=(
            "invalid",
            "not-found",
            "no-data",
            "not-acceptable",
            "conflict",
            "not-ready",
            "too-few-users",
        ),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/integrity",
        "get_integrity",
        "Get the tests of the sealed rounds: whether their reports can be honest.",
        OBJECT,
        access.ANALYST,
        parameters=(NAME,),
        problems=("not-found", "conflict"),
    ),
    Operation(
        "POST",
        "/v1/sql",
        "ask_sql",
        "Answer a SQL query to a task about tables, or explain how it would be answered (EXPLAIN).",
        OBJECT,
        access.ANALYST,
        wire.SqlRequest,
        problems=(
            *(
                "malformed-request",
                "invalid",
                "query",
                "not-found",
                "no-data",
                "conflict",
                "not-ready",
            ),
            *("too-few-users", "too-large", "unsupported-media", "unavailable"),
            *("too-many-queries", "disconnected", "query-timeout"),
        ),
    ),
    Operation(
        "GET",
        "/v1/tasks/{name}/status",
        "get_status",
        "Get the progress of a collection.",
        wire.Status,
        access.ANALYST,
        parameters=(NAME,),
        problems=("not-found",),
    ),
    Operation(
        "POST",
        "/v1/tasks/{name}/close",
        "close_task",
        "Close the open round of a task.",
        wire.Status,
        access.OPERATOR,
        parameters=(NAME, _now, _force),
        problems=("invalid", "not-found", "not-ready", "would-fail"),
    ),
    Operation(
        "POST",
        "/v1/tokens",
        "issue_tokens",
        "Issue tokens; they are shown only once.",
        wire.TokenList,
        access.OPERATOR,
        wire.TokenRequest,
        status=201,
        problems=("malformed-request", "too-large", "unsupported-media"),
    ),
    Operation(
        "GET",
        "/v1/tokens",
        "list_tokens",
        "List the tokens of operators and analysts.",
        wire.TokenLines,
        access.OPERATOR,
    ),
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
    *SHUFFLE_OPERATIONS,
    *SERVICE_OPERATIONS,
)

UPLOAD = next(operation for operation in OPERATIONS if operation.handler == "upload")
