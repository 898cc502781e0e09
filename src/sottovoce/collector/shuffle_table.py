"""The table ``[shuffle]`` of a task file: hops, batch and promises as an operator writes them."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from sottovoce.errors import CodecError, ParameterError
from sottovoce.plans.shuffled_settings import WantedShuffle
from sottovoce.tasks.shuffle import Hop

_ENTRIES = {entry.name for entry in fields(WantedShuffle)}
_NEEDED = ("hops", "users", "delta")


def wishes(table: Mapping[str, Any], collector_key: Callable[[], str] | None) -> WantedShuffle:
    """Return what a table asks for; ``collector_key`` gives the key if the table has none."""
    unknown = set(table) - _ENTRIES
    if unknown:
        raise CodecError(f"the settings of a shuffle are: {', '.join(sorted(_ENTRIES))}")
    for name in _NEEDED:
        if name not in table:
            raise CodecError(f"`{name}` is missing in the table `shuffle`")
    entries = dict(table)
    entries["hops"] = _hops(table["hops"])
    entries["delta"] = _number("delta", table["delta"])
    if "key" not in table:
        if collector_key is None:
            raise ParameterError(
                "`key` of the shuffle is missing: publishing the task fills in the collector's"
            )
        entries["key"] = collector_key()
    return WantedShuffle(**entries)


def _number(name: str, value: Any) -> Any:
    """Return a number that may be written as text, which keeps its digits in every language."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        raise ParameterError(f"`{name}` of the shuffle must be a number") from None


def _hops(written: Any) -> tuple[Hop, ...]:
    if not isinstance(written, list):
        raise CodecError("`hops` must be a list of addresses with keys")
    return tuple(_hop(entry) for entry in written)


def _hop(entry: Any) -> Hop:
    """Return a hop that is written as ``URL#KEY``, or as a table of ``url`` and ``key``."""
    if isinstance(entry, str):
        url, separator, key = entry.rpartition("#")
        if not separator:
            raise CodecError("a hop must be written as URL#KEY, with the key of the hop")
        return Hop(url, key)
    if not isinstance(entry, dict) or set(entry) != {"url", "key"}:
        raise CodecError("a hop must be text of the form URL#KEY, or a table of url and key")
    return Hop(entry["url"], entry["key"])
