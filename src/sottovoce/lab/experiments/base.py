"""The contract of experiments: a figure or table of a paper, computed anew and judged.

An experiment says what it reproduces, computes rows at one of two sizes, draws them, and lists the
claims that the paper makes about them.  The verdict follows from the rows: a figure is reproduced
if every printed value is met within the stated tolerance and every claim holds.  Where the paper
prints no value, as in most drawings, the claims hold, and no more is said.

Every file of ``figures`` holds experiments; they are found by themselves.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import product
from pkgutil import iter_modules
from typing import Any, ClassVar, Literal, TypeVar

from sottovoce.core.suggestion import did_you_mean
from sottovoce.errors import ParameterError

Size = Literal["quick", "full"]
SIZES: tuple[Size, ...] = ("quick", "full")
Progress = Callable[[float], None]  # is told which share of an experiment is done
Item = TypeVar("Item")

_FAMILY = "sottovoce.lab.experiments.figures"


@dataclass(frozen=True)
class FigureRow:
    """One number of a figure: which curve or column, where on it, ours, and the printed one."""

    series: str
    x: float | str
    ours: float
    published: float | None = None


@dataclass(frozen=True)
class Claim:
    """What a paper says about a figure, and whether our rows agree."""

    text: str
    holds: bool


@dataclass(frozen=True)
class FigureVerdict:
    """How a figure ended: reproduced, its claims hold, or why not."""

    word: Literal["reproduced", "claims hold", "differs", "not possible here"]
    because: str = ""

    def __str__(self) -> str:
        return f"{self.word}, because {self.because}" if self.because else self.word


@dataclass(frozen=True)
class FigureEvidence:
    """What a verdict rests on: published values and claims, and how many of them are met."""

    published: int = 0
    met: int = 0
    claims: int = 0
    held: int = 0

    def __add__(self, other: "FigureEvidence") -> "FigureEvidence":
        return FigureEvidence(
            self.published + other.published,
            self.met + other.met,
            self.claims + other.claims,
            self.held + other.held,
        )

    def __str__(self) -> str:
        """Return the counts in words.

        >>> str(FigureEvidence(5, 2)), str(FigureEvidence(claims=1, held=1))
        ('2 of 5 published values', '1 of 1 claims')
        """
        counts = []
        if self.published:
            counts.append(f"{self.met} of {self.published} published values")
        if self.claims:
            counts.append(f"{self.held} of {self.claims} claims")
        return ", ".join(counts)


@dataclass(frozen=True)
class Axes:
    """The titles of the axes, and which of them are logarithmic."""

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False


class Experiment(ABC):
    """One figure or table, or several that one run answers.

    ``reproduces`` holds identifiers of ``figures.tsv``.  ``tolerance`` is relative: printed values
    have few digits, and measured ones vary.  ``difference`` states why a figure is known to differ.
    ``is_partial`` says that it differs whatever its rows are: they are of other data, or leave out
    a part of the figure.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    reproduces: ClassVar[tuple[str, ...]]
    axes: ClassVar[Axes]
    tolerance: ClassVar[float] = 0.0
    difference: ClassVar[str] = ""
    is_partial: ClassVar[bool] = False

    @abstractmethod
    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        """Return the rows."""

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        """Return what the paper says about the figure, and whether the rows agree."""
        return []

    def judge(self, rows: Sequence[FigureRow]) -> FigureVerdict:
        """Return the verdict that follows from the rows."""
        off = [row for row in rows if not self.meets(row)]
        failed = [claim.text for claim in self.claims(rows) if not claim.holds]
        if not off and not failed and not self.is_partial:
            has_values = any(row.published is not None for row in rows)
            return FigureVerdict("reproduced" if has_values else "claims hold")
        return FigureVerdict("differs", self.difference or _what_failed(off, failed))

    def evidence(self, rows: Sequence[FigureRow]) -> FigureEvidence:
        """Return how many published values and claims the rows meet."""
        published = [row for row in rows if row.published is not None]
        claims = self.claims(rows)
        return FigureEvidence(
            published=len(published),
            met=sum(self.meets(row) for row in published),
            claims=len(claims),
            held=sum(claim.holds for claim in claims),
        )

    def meets(self, row: FigureRow) -> bool:
        """Return whether a row has no printed value, or is near enough to it."""
        if row.published is None:
            return True
        return abs(row.ours - row.published) <= self.tolerance * abs(row.published) + 1e-12

    def draw(self, rows: Sequence[FigureRow], ax: Any) -> None:
        """Draw every series as a line, or as squares over names, and printed values as circles."""
        for number, series in enumerate(series_of(rows)):
            chosen = [row for row in rows if row.series == series]
            line = "-" if number < 10 else "--"
            ax.plot(
                [row.x for row in chosen],
                [row.ours for row in chosen],
                "s" if isinstance(chosen[0].x, str) else line,
                color=f"C{number % 10}",
                linewidth=1.3,
                markersize=4,
                label=series,
            )
            printed = [row for row in chosen if row.published is not None]
            ax.plot(
                [row.x for row in printed],
                [row.published for row in printed],
                "o",
                color=f"C{number % 10}",
                fillstyle="none",
                markersize=7,
            )
        self._label(ax)

    def _label(self, ax: Any) -> None:
        ax.set_title(self.title, fontsize=9)
        ax.set_xlabel(self.axes.x, fontsize=8)
        ax.set_ylabel(self.axes.y, fontsize=8)
        if self.axes.log_x:
            ax.set_xscale("log")
        if self.axes.log_y:
            ax.set_yscale("log", nonpositive="mask")
        ax.tick_params(labelsize=7)
        ax.grid(visible=True, alpha=0.3)
        ax.legend(fontsize=6, ncols=2)


class Curves(Experiment):
    """An experiment with a number for every one of its schemes at every one of its points.

    ``schemes`` maps the name of a curve to what ``number`` needs to know of it, often the name.
    """

    schemes: ClassVar[Mapping[str, Any]]
    points: ClassVar[Sequence[float | str]]

    @abstractmethod
    def number(self, scheme: Any, point: Any, size: Size) -> float:
        """Return our number for a scheme at a point."""

    def printed(self, scheme: Any, point: Any, size: Size) -> float | None:
        """Return the number in the paper, if it prints one."""
        return None

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        cells = list(product(self.schemes.items(), self.points))
        return [
            FigureRow(
                name, point, self.number(scheme, point, size), self.printed(scheme, point, size)
            )
            for (name, scheme), point in steps(cells, progress)
        ]


def named(*schemes: str) -> dict[str, str]:
    """Return schemes that are known by their names alone."""
    return {scheme: scheme for scheme in schemes}


def _what_failed(off: Sequence[FigureRow], failed: Sequence[str]) -> str:
    reasons = []
    if off:
        row = off[0]
        reasons.append(
            f"{len(off)} printed values are missed, the first at {row.series}, {row.x}: "
            f"{row.ours:.4g} instead of {row.published:.4g}"
        )
    reasons += [f"this does not hold: {text}" for text in failed]
    return "; ".join(reasons)


def series_of(rows: Iterable[FigureRow]) -> list[str]:
    """Return the names of the series, as they first appear."""
    return list(dict.fromkeys(row.series for row in rows))


def values_of(rows: Iterable[FigureRow], series: str) -> list[float]:
    """Return our numbers of one series, in order."""
    return [row.ours for row in rows if row.series == series]


def is_below(
    rows: Sequence[FigureRow], series: str, others: Iterable[str], factor: float = 1.0
) -> bool:
    """Return whether a series, times a factor, lies below others at every place."""
    lower = values_of(rows, series)
    return all(
        factor * low < high
        for other in others
        for low, high in zip(lower, values_of(rows, other), strict=True)
    )


def steps(items: Sequence[Item], progress: Progress) -> Iterator[Item]:
    """Yield the items, and tell after each of them which share is done."""
    for number, item in enumerate(items, 1):
        yield item
        progress(number / len(items))


@cache
def experiments() -> dict[str, Experiment]:
    """Return all experiments by name, in the order of papers and figures."""
    for module in iter_modules(import_module(_FAMILY).__path__):
        import_module(f"{_FAMILY}.{module.name}")
    members = [member for member in _named_members(Experiment) if _is_of_family(member)]
    found: list[Experiment] = [member() for member in members]
    return {each.name: each for each in sorted(found, key=lambda each: _order(each.name))}


def experiment(name: str) -> Experiment:
    """Return the experiment of this name."""
    known = experiments()
    if name not in known:
        hint = did_you_mean(name, known)
        raise ParameterError(f"unknown experiment {name!r}: see `sottovoce lab list`.{hint}")
    return known[name]


def _named_members(family: Any) -> Iterator[Any]:
    """Yield the classes below a class that have a name of their own."""
    for member in family.__subclasses__():
        yield from _named_members(member)
        if "name" in vars(member):
            yield member


def _is_of_family(member: type[Experiment]) -> bool:
    """Return whether a class stands in a file of figures: tests define others."""
    return member.__module__.startswith(_FAMILY)


def _order(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts figure 10 after figure 9."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in name.split("-")]
