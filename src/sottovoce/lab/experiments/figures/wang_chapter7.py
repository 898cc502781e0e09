"""Wang 2021, chapter 7: analytics over several columns, by the exact errors of the methods.

The published people (IPUMS) are not redistributable; errors depend on their number and on the
spread of the measure, which is stated in ``box_errors``.  The figures print no numbers.
"""

from collections.abc import Sequence
from math import sqrt
from typing import ClassVar

from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Curves,
    FigureRow,
    Size,
    is_below,
    named,
    values_of,
)
from sottovoce.lab.experiments.wang_chapter7.box_errors import TYPES, across, along, of_type

PAPER = "Wang 2021"
VOLUMES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.8)


class OneColumn(Curves):
    """Figure 7.3: one column of 1024 values, a million people, epsilon 2."""

    name = "wang-7-3"
    title = "Error of a range of 1024 values, a million people, epsilon 2"
    paper = PAPER
    reproduces = ("wang-figure-7.3",)
    axes = Axes("volume of the query", "MNAE", log_y=True)
    schemes = named("mg", "hi", "hio")
    points = VOLUMES

    def number(self, scheme: str, point: float, size: Size) -> float:
        return along(scheme, point)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        mg, hio = values_of(rows, "mg"), values_of(rows, "hio")
        return [
            Claim("MG is better for narrow ranges only", mg[0] < hio[0] and mg[-1] > 2 * hio[-1]),
            Claim("HIO is better than HI", is_below(rows, "hio", ("hi",))),
        ]


class OneColumnByEpsilon(Curves):
    """Figure 7.4: the same over epsilon, at a quarter of the domain."""

    name = "wang-7-4"
    title = "Error of a quarter of 1024 values, a million people"
    paper = PAPER
    reproduces = ("wang-figure-7.4",)
    axes = Axes("epsilon", "MNAE", log_y=True)
    schemes = named("mg", "hi", "hio")
    points = (0.5, 1.0, 2.0, 3.0, 5.0)

    def number(self, scheme: str, point: float, size: Size) -> float:
        return along(scheme, 0.25, point)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        falling = all(
            values_of(rows, method) == sorted(values_of(rows, method), reverse=True)
            for method in ("mg", "hi", "hio")
        )
        return [
            Claim("errors fall with epsilon", falling),
            Claim("HIO is the best of the three", is_below(rows, "hio", ("mg", "hi"))),
        ]


class SeveralColumns(Curves):
    """What figures 7.6 and 7.7 share: random boxes of several columns."""

    paper = PAPER
    axes = Axes("volume of the query", "MNAE", log_y=True)

    def number(self, scheme: tuple[str, tuple[int, ...]], point: float, size: Size) -> float:
        method, sizes = scheme
        error, _ = across(method, sizes, point)
        return error


def on_columns(*sizes: tuple[int, ...]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return MG and HIO on columns of these sizes."""
    return {
        f"{method} {'x'.join(map(str, each))}": (method, each)
        for each in sizes
        for method in ("mg", "hio")
    }


class TwoColumnsByEpsilon(Curves):
    """Figure 7.5: two columns over epsilon, a quarter of all cells."""

    name = "wang-7-5"
    title = "Error of a quarter of 256 x 256 cells, a million people"
    paper = PAPER
    reproduces = ("wang-figure-7.5",)
    axes = Axes("epsilon", "MNAE", log_y=True)
    schemes = named("mg", "hi", "hio")
    points = (0.5, 1.0, 2.0, 5.0)

    def number(self, scheme: str, point: float, size: Size) -> float:
        error, _ = across(scheme, (256, 256), 0.25, point)
        return error

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [Claim("HIO is better than MG and HI", is_below(rows, "hio", ("mg", "hi")))]


class TwoColumns(SeveralColumns):
    """Figure 7.6: two columns over the volume."""

    name = "wang-7-6"
    title = "Error of boxes of two columns, a million people, epsilon 2"
    reproduces = ("wang-figure-7.6",)
    schemes = on_columns((256, 256), (1024, 64))
    points = (0.01, 0.1, 0.25, 0.5, 0.8)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        at = {(row.series, row.x): row.ours for row in rows}
        labels = ("256x256", "1024x64")
        return [
            Claim(
                "MG is better for small boxes only",
                all(
                    at[f"mg {label}", 0.01] < at[f"hio {label}", 0.01]
                    and at[f"mg {label}", 0.5] > 2.5 * at[f"hio {label}", 0.5]
                    for label in labels
                ),
            )
        ]


class ThreeColumns(SeveralColumns):
    """Figure 7.7: three columns over the volume."""

    name = "wang-7-7"
    title = "Error of boxes of three columns (256 x 256 x 64), epsilon 2"
    reproduces = ("wang-figure-7.7",)
    schemes = on_columns((256, 256, 64))
    points = (0.1, 0.25, 0.5, 0.8)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        at = {(row.series.split()[0], row.x): row.ours for row in rows}
        return [
            Claim(
                "from a volume of 0.5 on HIO is at least three times more accurate",
                all(at["mg", volume] >= 3 * at["hio", volume] for volume in (0.5, 0.8)),
            )
        ]


class Selectivity(Curves):
    """Figure 7.8: the relative error over the share of people that a question is about."""

    name = "wang-7-8"
    title = "Relative error of HIO by selectivity, a million people, epsilon 5"
    paper = PAPER
    reproduces = ("wang-figure-7.8",)
    axes = Axes("selectivity", "relative error", log_y=True)
    schemes = TYPES
    points = (0.05, 0.1, 0.2, 0.4, 0.6)

    def number(self, scheme: tuple[int, ...], point: float, size: Size) -> float:
        return sqrt(of_type("hio", scheme, share=point) / 1e6) / point

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(
                "the relative error decreases with increasing selectivity",
                all(
                    values_of(rows, name) == sorted(values_of(rows, name), reverse=True)
                    for name in TYPES
                ),
            )
        ]


class DomainSizes(Curves):
    """Figure 7.9: the relative error over the size of the domain and the type of the question."""

    name = "wang-7-9"
    title = "Relative error of HIO by domain size, a tenth of a million people, epsilon 5"
    paper = PAPER
    reproduces = ("wang-figure-7.9",)
    axes = Axes("values of an ordered column", "relative error", log_x=True, log_y=True)
    schemes = TYPES
    heights: ClassVar[dict[int, int]] = {5**height: height for height in (2, 3, 4, 5)}
    points = tuple(heights)

    def number(self, scheme: tuple[int, ...], point: int, size: Size) -> float:
        height = self.heights[point]
        nodes = 2 * 4 * (height - 1) * 5 / 8  # of an average range
        error = of_type("hio", scheme, (height, height, 1, 1), nodes=nodes)
        return sqrt(error / 1e6) / 0.1

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = {name: values_of(rows, name) for name in TYPES}
        return [
            Claim(
                "errors are larger when the domains are larger",
                all(errors == sorted(errors) for errors in found.values()),
            ),
            Claim(
                "types 1+0 and 1+1 are answered better than 2+0 and 2+2",
                all(
                    max(found["1+0"][place], found["1+1"][place])
                    < min(found["2+0"][place], found["2+2"][place])
                    for place in range(1, 4)
                ),
            ),
        ]


class EightColumns(Curves):
    """Figure 7.10: HIO and SC on four ordered and four categorical columns."""

    name = "wang-7-10"
    title = "Relative error on eight columns, a million people, epsilon 5"
    paper = PAPER
    reproduces = ("wang-figure-7.10",)
    axes = Axes("type of question", "relative error", log_y=True)
    difference = (
        "by the exact errors SC is better for single conditions only: with labels of two levels "
        "questions of two and three columns are answered better by HIO"
    )
    types: ClassVar[dict[str, tuple[int, ...]]] = {
        "1+0": (0,),
        "0+1": (4,),
        "2+0": (0, 1),
        "2+1": (0, 1, 4),
    }
    shares: ClassVar[dict[str, float]] = {"1+0": 0.24, "0+1": 0.10, "2+0": 0.47, "2+1": 0.17}
    schemes = named("hio", "sc")
    points = tuple(shares)

    def number(self, scheme: str, point: str, size: Size) -> float:
        heights = (4,) * 4 + (1,) * 4
        share = self.shares[point]
        error = of_type(scheme, self.types[point], heights, nodes=2.0, share=share)
        return sqrt(error / 1e6) / share

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        at = {(row.series, row.x): row.ours for row in rows}
        return [
            Claim(
                "SC is better than HIO for all types but 2+1",
                all(at["sc", name] < at["hio", name] for name in ("1+0", "0+1", "2+0")),
            )
        ]
