"""Pieces of a long experiment: each is computed once, and kept in a folder if there is one.

An experiment of hours is run in sittings.  What was computed stays as one JSON file per piece, and
the next sitting begins where the last one ended.  Without a folder everything is computed anew.
"""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any


class UnfinishedError(Exception):
    """The time of this sitting is over; the pieces so far are kept."""


@dataclass(frozen=True)
class Pieces:
    """Results by name.  No piece is begun after ``seconds``."""

    folder: Path | None = None
    seconds: float = inf
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "started", self.clock())
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of this name as plain data, computed unless it is kept."""
        path = None if self.folder is None else self.folder / f"{_file_name(name)}.json"
        if path is not None and path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        if self.clock() - self.started > self.seconds:
            raise UnfinishedError
        text = json.dumps(compute())
        if path is not None:
            new = path.with_suffix(".new")
            new.write_text(text, encoding="utf-8")
            new.replace(path)
        return json.loads(text)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name)
