"""Further facts about an answer in a few words, such as how a search was done."""

from collections.abc import Mapping
from typing import Any

from sottovoce.collector.dashboard import formatting

Fact = tuple[str, str]

_SHOWN_ELSEWHERE = {
    *(
        "name",
        "users",
        "population",
        "epsilon",
        "mechanism",
        "level",
        "steps",
        "threshold",
        "rows",
        "measures",
    ),
    *("minimum", "suppressed", "unit", "fakes"),
}
_TERMS = {
    "groups": "Groups of users",
    "prefix_lengths": "Bits of the prefixes",
    "sensitivity": "Values are seen from a share of",
    "padded_to": "Sets are padded to",
    "correction": "Correction for longer sets",
    "false_share": "Share of false reports",
    "likelihood_gain": "Gain of likelihood by the filter",
    "misfit": "Misfit of honest people",
    "misfit_threshold": "Misfit that honest people may reach",
    "undefended_mean": "Mean without the defence",
    "undefended_interval": "Its interval",
}
_SHARES = {"sensitivity", "false_share"}
_REMARKS: dict[str, tuple[bool, Fact]] = {
    "sizes_seen": (
        False,
        ("Sizes of sets", "none stood out of the noise: sets are taken for single items"),
    ),
    "candidates_left_out": (
        True,
        ("Left out", "more candidates passed the threshold than could be followed"),
    ),
}
_MAX_LISTED = 25


def facts(part: Mapping[str, Any]) -> list[Fact]:
    """Return the details of a released answer, each as a term and a few words."""
    listed: list[Fact] = []
    for name, detail in part.items():
        if name not in _SHOWN_ELSEWHERE:
            listed += _fact(name, detail)
    return listed


def _fact(name: str, detail: Any) -> list[Fact]:
    """Return one detail as facts; nothing if it needs no remark, or if it is too long to list."""
    if name == "guarantee":
        return _guarantee_facts(detail)
    if name == "influence":
        return _influence_facts(detail)
    if name in _REMARKS:
        reason, remark = _REMARKS[name]
        return [remark] if detail is reason else []
    term = _TERMS.get(name, name.replace("_", " ").capitalize())
    if name == "graded_groups":
        return [(f"Group at epsilon {group['epsilon']:g}", _group(group)) for group in detail]
    if isinstance(detail, (list, tuple)):
        return [(term, ", ".join(map(_written, detail)))] if len(detail) <= _MAX_LISTED else []
    return [(term, formatting.percent(detail, 0.0001) if name in _SHARES else _written(detail))]


def _guarantee_facts(detail: Mapping[str, Any]) -> list[Fact]:
    """Return what is promised; of shuffled reports always all three epsilons."""
    local = f"local epsilon {detail['local']:g}, against everybody, the collector too"
    if "central" not in detail:
        return [("Guarantee", local)]
    beyond = f"except with probability {detail['delta']:g}"
    hops = formatting.many(detail["hops"], "hop")
    return [
        (
            "Guarantee against the collector alone",
            f"epsilon {detail['central']:.3g}, {beyond}, if one hop is honest",
        ),
        (
            "Guarantee against the collector with all other users",
            f"epsilon {detail['against_users']:.3g}, {beyond}, if one hop is honest",
        ),
        ("Guarantee against everybody", f"epsilon {detail['local']:g}, the hops included"),
        ("Mixed", f"{detail['users']:,} people, by {hops} with {detail['fakes']:,} fakes each"),
    ]


def _influence_facts(detail: Any) -> list[Fact]:
    """Return what one false report can do to any number of an answer."""
    if detail is None:
        return [("One false report", "no bound is known")]
    if "up" in detail:
        moves = f"adds at most {detail['up']:,.4g}, takes at most {detail['down']:,.4g}"
        return [("One false report", moves)]
    known = {name: each for name, each in detail.items() if each is not None}
    largest = {name: max(each["up"], each["down"]) for name, each in known.items()}
    return [
        ("One false report", f"moves the {name} by at most {moved:,.4g}")
        for name, moved in largest.items()
    ]


def _group(group: Mapping[str, Any]) -> str:
    """Return what one graded group was worth, and where its outputs are suspected."""
    reports = formatting.many(group["reports"], "report")
    users = formatting.many(group["users"], "user")
    parts = [f"{low:.0%} to {high:.0%}" for low, high in group["poisoned"]]
    suspected = f"; suspected outputs: {', '.join(parts)}" if parts else ""
    return f"{users} with {reports} each, weight {group['weight']:.2f}{suspected}"


def _written(detail: Any) -> str:
    if isinstance(detail, bool):
        return "yes" if detail else "no"
    if isinstance(detail, (int, float)):
        return formatting.count(detail) if detail == round(detail) else f"{detail:,.4g}"
    return str(detail)
