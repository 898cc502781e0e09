"""Views of an outcome beside its rows, as data that a shell can draw."""

from dataclasses import dataclass

# The mutual information in nats at which a cell of a map is dark at the earliest, so that a map of
# nothing but noise stays pale.
DARK_INFORMATION = 0.1


@dataclass(frozen=True)
class PairView:
    """A number for every pair of names, such as mutual information; ``edges`` stand out."""

    title: str
    unit: str
    names: tuple[str, ...]
    numbers: tuple[tuple[float, ...], ...]  # (names, names)
    edges: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SideViews:
    """A view of pairs, if there is one, and remarks in whole sentences."""

    pairs: PairView | None = None
    remarks: tuple[str, ...] = ()
