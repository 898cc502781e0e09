"""A number for every pair of names, as a drawing, as rows and as links."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any
from urllib.parse import quote

from sottovoce.answers.side_views import PairView
from sottovoce.collector.dashboard import svg

Facts = dict[str, Any]


def shown(view: PairView | None, path: str, query: str) -> Facts | None:
    """Return all pairs as a drawing and as rows, largest first, and links to edges."""
    if view is None:
        return None
    index = {name: number for number, name in enumerate(view.names)}
    pairs = sorted(combinations(view.names, 2), key=lambda pair: -_number(view, index, pair))
    edges = [(index[first], index[second]) for first, second in view.edges]
    return {
        "title": view.title,
        "unit": view.unit,
        "drawing": svg.heat(view.names, view.numbers, edges, view.title, "heat"),
        "rows": [_row(view, index, pair) for pair in pairs],
        "tree": [
            (f"{first} \N{EN DASH} {second}", _address((first, second), path, query))
            for first, second in view.edges
        ],
    }


def _number(view: PairView, index: dict[str, int], pair: tuple[str, str]) -> float:
    return view.numbers[index[pair[0]]][index[pair[1]]]


def _row(view: PairView, index: dict[str, int], pair: tuple[str, str]) -> Facts:
    number = f"{_number(view, index, pair):.4f}"
    return {"one": pair[0], "other": pair[1], "number": number, "joined": pair in view.edges}


def _address(names: Sequence[str], path: str, query: str) -> str:
    chosen = "".join(f"&marginal={quote(name, safe='')}" for name in names)
    return f"{path}?{query}{chosen}#answer"
