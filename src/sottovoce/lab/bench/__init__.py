"""Speed as ratios, each beside the least work that could do the same job.

All sides are timed in turns, in one run.

Ratios travel between machines, seconds do not; so each topic races the package against a bare loop,
a plain read or the drawing of the same random words, and says whether its goal was met.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from json import dumps
from pathlib import Path
from typing import Any

from sottovoce.errors import ParameterError
from sottovoce.lab.bench.report import page, print_tables, say
from sottovoce.lab.bench.row import BenchmarkRow

TOPICS = (
    "affine",
    "olh",
    "privatizing",
    "devices",
    "starting",
    "unary",
    "moving",
    "consistency",
    "growth",
    "discovery",
    "marginals",
    "queries",
    "spark",
    "collecting",
    "shuffling",
    "tokens",
    "integrity",
)


def run(
    only: str | Iterable[str] = "",
    *,
    json: bool = False,
    scale: float = 1.0,
    write: Path | None = None,
) -> list[dict[str, Any]]:
    """Run the topics, or only the named ones, print their rows and return them.

    ``scale`` multiplies the users, and ``write`` is a file for the rows as a page.
    """
    named = {only} - {""} if isinstance(only, str) else set(only)
    if named - set(TOPICS):
        raise ParameterError(f"a benchmark is one of {', '.join(TOPICS)}")
    rows: list[BenchmarkRow] = []
    for topic in TOPICS:
        if not named or topic in named:
            rows += measure(topic, scale)
    documents = [row.document() for row in rows]
    if write is not None:
        write.write_text(page(rows))
    if json:
        print(dumps(documents, indent=1))
    else:
        print_tables(rows)
    return documents


def measure(topic: str, scale: float) -> Iterator[BenchmarkRow]:
    """Yield the rows of a topic as they are measured; what it needs is imported only now."""
    for row in import_module(f"{__name__}.{topic}").rows(scale):
        say(f"{topic}: {row.name}: {row.figure:,.4g} {row.unit}")
        yield row
