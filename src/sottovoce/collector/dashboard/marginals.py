"""How attributes hang together: the heat map, the tree, and whether a pair is independent, as drawing and words."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any
from urllib.parse import quote

from sottovoce.collector.dashboard import svg

Facts = dict[str, Any]

_UNLIKELY = 0.05
_SMALLEST = 0.0001


def together(structure: Mapping[str, Any] | None, path: str, query: str) -> Facts | None:
    """Return the drawing of all pairs, the same as rows, strongest first, and the pairs of the tree; or nothing."""
    if structure is None:
        return None
    names, information = structure["names"], structure["information"]
    tree = [(one, other) for one, other, _ in structure["tree"]]
    pairs = sorted(combinations(range(len(names)), 2), key=lambda pair: -information[pair[0]][pair[1]])
    rows = [_row(names[one], names[other], information[one][other], tree) for one, other in pairs]
    edges = [(names.index(one), names.index(other)) for one, other in tree]
    return {
        "drawing": svg.heat(names, information, edges, "Mutual information of every pair of attributes", "heat"),
        "rows": rows,
        "tree": [(f"{one} \N{EN DASH} {other}", _address((one, other), path, query)) for one, other in tree],
    }


def tested(found: Mapping[str, Any] | None) -> str:
    """Return in a few words whether two attributes are independent."""
    if found is None:
        return ""
    if "unknown" in found:
        return f"Whether these attributes are independent cannot be said: {found['unknown']}."
    chance = found["p_value"]
    told = f"p < {_SMALLEST}" if chance < _SMALLEST else f"p = {chance:.2g}"
    verdict = "These attributes are dependent" if chance < _UNLIKELY else "There is no sign that they are dependent"
    freedom = f"{found['degrees']} degree{'s' if found['degrees'] > 1 else ''} of freedom"
    weight = f"statistic {found['statistic']:.3g} with {freedom}"
    return f"{verdict} ({told}): a test that knows how noisy the table is, {weight}."


def _row(one: str, other: str, nats: float, tree: Sequence[tuple[str, str]]) -> Facts:
    return {"one": one, "other": other, "nats": f"{nats:.4f}", "joined": (one, other) in tree}


def _address(names: Sequence[str], path: str, query: str) -> str:
    chosen = "".join(f"&marginal={quote(name, safe='')}" for name in names)
    return f"{path}?{query}{chosen}#answer"
