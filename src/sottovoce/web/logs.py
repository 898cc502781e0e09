"""Structured logs: one JSON object per line.

Only the fields listed here are written: there is none for payloads, ids, tokens and addresses.
"""

import json
import logging
import sys
import traceback
from typing import Any

FIELDS = (
    "event",
    "route",
    "method",
    "status",
    "milliseconds",
    "task",
    "round",
    "state",
    "error",
    "where",
)


class JsonLines(logging.Formatter):
    """Write time, level and the listed fields; never the message of an error."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
        }
        own = record.name.startswith("sottovoce")
        # Messages of other libraries may quote what a client sent.
        line["event"] = record.getMessage() if own else record.name
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["where"] = [
                f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}" for frame in frames[-5:]
            ]
        return json.dumps(line)


def configure(level: int = logging.INFO) -> None:
    """Send all logs of this process to the standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = name != "uvicorn.access"
