"""Structured logs: one JSON object per line.

Only the fields listed here are written: there is none for payloads, ids, tokens and addresses.
"""

import json
import logging
import re
import sys
import traceback
from typing import Any

SECONDS = "%Y-%m-%dT%H:%M:%S%z"
MINUTES = "%Y-%m-%dT%H:%M%z"
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
_GAP = re.compile(r"%[sdr]")  # in a message, for one of its arguments


class JsonLines(logging.Formatter):
    """Write time, level and the listed fields; never the message of an error."""

    def __init__(self, time_format: str = SECONDS) -> None:
        super().__init__()
        self._time_format = time_format

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": self.formatTime(record, self._time_format),
            "level": record.levelname,
        }
        line["event"] = _event(record)
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            line["where"] = [
                f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}" for frame in frames[-5:]
            ]
        return json.dumps(line)


def _event(record: logging.LogRecord) -> str:
    """Return a description of an event, without anything that a client may have sent.

    Messages of other libraries may quote requests.  Those of uvicorn are constants with gaps for
    addresses and names: the constant is shown, with dots for its gaps.
    """
    if record.name.startswith("sottovoce"):
        return record.getMessage()
    if record.name.startswith("uvicorn"):
        return f"{record.name}: {_GAP.sub('...', str(record.msg).strip())}"
    return record.name


def configure(level: int = logging.INFO, time_format: str = SECONDS) -> None:
    """Send all logs of this process to the standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(time_format))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = name != "uvicorn.access"
