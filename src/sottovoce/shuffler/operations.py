"""The operations of a shuffler as a table: its routes and its OpenAPI document are made from it.

``handler`` is a method of ``shuffler.api.HopApi``.
"""

from typing import Any

from sottovoce.shuffler import wire
from sottovoce.web.operation import SERVICE_OPERATIONS, Operation, Parameter
from sottovoce.web.uploads import JSON, MSGPACK, UploadReceipt
from sottovoce.wire.batch_part import MAX_PARTS
from sottovoce.wire.seal import MAX_ROUND

TITLE = "Sottovoce shuffler"
BINARY: dict[str, Any] = {"type": "string", "format": "binary"}

_task = Parameter(
    "task",
    "path",
    "The SHA-256 of the task's document, in base64url without padding.",
    {"type": "string", "pattern": "^[A-Za-z0-9_-]{43}$"},
)
_number = Parameter(
    "number",
    "path",
    "The number of a round, from 0.",
    {"type": "integer", "minimum": 0, "maximum": MAX_ROUND},
)
_part = Parameter(
    "part",
    "path",
    "The number of a part, from 0.",
    {"type": "integer", "minimum": 0, "maximum": MAX_PARTS - 1},
)

OPERATIONS = (
    Operation(
        "GET",
        "/v1/tasks",
        "get_status",
        "List the tasks of this hop, with their rounds.",
        wire.HopStatus,
    ),
    Operation(
        "POST",
        "/v1/tasks/{task}/rounds/{number}/messages",
        "upload",
        "Send sealed messages of devices to the first hop; accepted messages are durable.",
        UploadReceipt,
        body=wire.MessageUpload,
        types=(JSON, MSGPACK),
        produces=(JSON, MSGPACK),
        parameters=(_task, _number),
        problems=("forbidden", "not-found", "conflict", "unsupported-media", "unavailable"),
        shared=True,
    ),
    Operation(
        "PUT",
        "/v1/tasks/{task}/rounds/{number}/batch/{part}",
        "put_part",
        "Hand a signed part of the previous hop's batch to this hop.",
        wire.PartAnswer,
        body=BINARY,
        types=("application/octet-stream",),
        parameters=(_task, _number, _part),
        problems=("not-found", "conflict", "not-ready", "unsupported-media", "unavailable"),
    ),
    *SERVICE_OPERATIONS,
)
