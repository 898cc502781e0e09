"""Pieces of a page of evidence that are measured once, so that an interrupted run can go on.

A page at full size takes hours.  With ``--kept FILE`` every piece is written to the file as soon as
it is measured, and a later run reads it from there.  Delete the file when the code has changed.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class MeasuredOnce:
    """Pieces by name, kept in a file of JSON lines, or only in memory without a path."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._pieces: dict[str, Any] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                piece = json.loads(line)
                self._pieces[piece["name"]] = piece["content"]

    def piece(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return the piece of this name: plain data, measured only if it is not there yet."""
        if name not in self._pieces:
            content = measure()
            if self._path is not None:
                with self._path.open("a") as file:
                    file.write(json.dumps({"name": name, "content": content}) + "\n")
            self._pieces[name] = content
        return self._pieces[name]


def from_arguments(description: str | None) -> MeasuredOnce:
    """Return the pieces that the command line names with ``--kept``."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n", 1)[0])
    parser.add_argument("--kept", type=Path, help="file of pieces that are measured already")
    return MeasuredOnce(parser.parse_args().kept)
