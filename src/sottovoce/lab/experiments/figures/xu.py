"""Xu 2020: analytics over the tables of one and of several services.

The figures carry no numbers, and the census samples are not redistributable.  Expected errors are
those of the plans; they need no people.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Curves,
    Experiment,
    FigureRow,
    Progress,
    Size,
    is_below,
    steps,
    values_of,
)
from sottovoce.lab.experiments.xu.range_errors import (
    METHODS,
    MILLION,
    errors,
    layout,
    predicted,
    ranges,
)
from sottovoce.mechanisms.olh import OLH

PAPER = "Xu 2020"


class MeasureSizes(Experiment):
    """Figures 6b, 6f and 6g: errors over the number of values of the measure."""

    name = "xu-6"
    title = "Expected NMSE of SUM and COUNT, a million people, epsilon 2"
    paper = PAPER
    reproduces = ("xu-figure-6",)
    axes = Axes("values of the measure", "NMSE", log_x=True, log_y=True)
    sizes = (5, 25, 125, 250)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for values in steps(self.sizes, progress):
            names = [f"{kind} {method}" for kind in ("SUM", "COUNT") for method in METHODS]
            for name, error in zip(names, errors(values), strict=True):
                rows.append(FigureRow(name, values, error))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        hio = values_of(rows, "SUM hio")
        others = [values_of(rows, f"SUM {method}") for method in ("ahio", "ehio")]
        return [
            Claim(
                "for COUNT HIO is better than AHIO and EHIO",
                is_below(rows, "COUNT hio", ("COUNT ahio", "COUNT ehio")),
            ),
            Claim(
                "for SUM the error of HIO grows fast with the domain, the others' hardly",
                hio[-1] > 50 * hio[0] and all(errors[-1] < 6 * errors[0] for errors in others),
            ),
        ]


class Attributes(Experiment):
    """Figures 6c, 6h and 6i: errors over the number of attributes."""

    name = "xu-6-attributes"
    title = "Expected NMSE by the number of attributes (EHIO), epsilon 2"
    paper = PAPER
    reproduces = ("xu-figure-6",)
    axes = Axes("attributes", "NMSE", log_y=True)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for columns in steps((2, 3, 4), progress):
            collected = layout("ehio", 125, columns=columns)
            for kind, scale in (("sum", 63.0**2), ("count", 1.0)):
                error = predicted(collected, kind, ranges(step=25)) / scale / MILLION
                rows.append(FigureRow(kind.upper(), columns, error))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = [values_of(rows, kind) for kind in ("SUM", "COUNT")]
        return [
            Claim(
                "errors increase with the number of attributes",
                all(errors == sorted(errors) for errors in found),
            )
        ]


class OneToMany(Curves):
    """Figure 8, right: joins of one and many records by the truncation number."""

    name = "xu-8"
    title = "Expected NMSE of COUNT over a join, 10^6 joined records"
    paper = PAPER
    reproduces = ("xu-figure-8",)
    axes = Axes("records reported", "NMSE", log_y=True)
    nodes, share = 6.17, 0.12  # of a range of 15 values of 125, on average
    schemes: ClassVar[dict[str, float]] = {
        f"epsilon {epsilon:g}": epsilon for epsilon in (0.5, 1.0, 2.0, 5.0)
    }
    points = (1, 2, 4)

    def number(self, scheme: float, point: int, size: Size) -> float:
        """Return the error for people with one to ten records, evenly: section 6."""
        hashing = OLH(scheme / (1 + point), 1000)
        gap = (hashing.p - hashing.q) ** 2
        unheld = hashing.q * (1 - hashing.q) / gap
        held = 1 + hashing.p * (1 - hashing.p) / gap
        first = unheld + (held - unheld) / 500
        second = 2 * self.nodes * unheld + (held - unheld) * self.share * 0.55
        return 16 * 16 * (10 / point) ** 2 * point * first * second * 1e6 / 5.5 / 1e12

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = [values_of(rows, name) for name in self.schemes]
        return [
            Claim("more reported records make COUNT worse", all(e == sorted(e) for e in found)),
            Claim(
                "a larger epsilon makes it better",
                all(later[0] < earlier[0] for earlier, later in pairwise(found)),
            ),
        ]
