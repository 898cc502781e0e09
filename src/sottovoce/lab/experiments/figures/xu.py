"""Xu 2020: analytics over the tables of one and of several services.

The figures carry no numbers, and the census samples are not redistributable.  Expected errors are
those of the plans; they need no people.
"""

from collections.abc import Sequence
from itertools import pairwise, product
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
    named,
    series_of,
    steps,
    values_of,
)
from sottovoce.lab.experiments.tables import RACES
from sottovoce.lab.experiments.xu.census_averages import QUESTIONS, WAYS, Census
from sottovoce.lab.experiments.xu.household_errors import (
    AGES,
    ALL_HOUSEHOLDS,
    PERSONS,
    Homes,
    second_moments,
)
from sottovoce.lab.experiments.xu.range_errors import (
    METHODS,
    MILLION,
    errors,
    layout,
    predicted,
    ranges,
)
from sottovoce.lab.experiments.xu.range_gains import METHODS as RANGE_METHODS
from sottovoce.lab.experiments.xu.range_gains import gains

PAPER = "Xu 2020"
# Table 2, standard deviations of ten releases by epsilon and way: of Q1, Q2 and Q3, as printed.
TABLE_2 = {
    0.5: {
        "HIO": (20.03, 47.24, 320.65),
        "AHIO": (5.15, 12.08, 133.45),
        "EHIO": (4.07, 18.71, 243.41),
        "AHIO-RDC": (5.15, 10.37, 98.24),
    },
    1.0: {
        "HIO": (6.46, 28.81, 121.81),
        "AHIO": (2.82, 5.79, 67.08),
        "EHIO": (2.06, 7.2, 36.65),
        "AHIO-RDC": (2.82, 4.71, 25.03),
    },
    2.0: {
        "HIO": (4.07, 10.08, 73.6),
        "AHIO": (1.2, 3.43, 20.34),
        "EHIO": (1.05, 2.89, 14.62),
        "AHIO-RDC": (1.2, 1.82, 9.12),
    },
    5.0: {
        "HIO": (0.69, 3.36, 8.48),
        "AHIO": (0.75, 1.25, 4.91),
        "EHIO": (0.27, 0.7, 1.76),
        "AHIO-RDC": (0.75, 0.69, 1.74),
    },
}


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


class CensusAverages(Curves):
    """Table 2: standard deviations of averages of census data, in ten releases."""

    name = "xu-2-table"
    title = "Standard error of average hours of work, three million people (invented)"
    paper = PAPER
    reproduces = ("xu-table-2",)
    axes = Axes("epsilon", "standard error", log_y=True)
    difference = (
        "the census sample is not redistributable: standard errors on invented people have the "
        "printed order of magnitude"
    )
    tolerance = 0.5  # deviations of ten releases scatter by a quarter
    people: ClassVar[dict[str, int]] = {"quick": 30_000, "full": 200_000}
    schemes: ClassVar[dict[str, tuple[str, str]]] = {
        f"{question}, {way}": (question, way) for question in QUESTIONS for way in WAYS
    }
    points = tuple(TABLE_2)

    def number(self, scheme: tuple[str, str], point: float, size: Size) -> float:
        question, way = scheme
        return Census(self.people[size], point).average_error(WAYS[way], question).error

    def printed(self, scheme: tuple[str, str], point: float, size: Size) -> float:
        question, way = scheme
        return TABLE_2[point][way][list(QUESTIONS).index(question)]

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(
                "AHIO and EHIO are better than HIO",
                all(
                    is_below(rows, f"{question}, {way}", (f"{question}, HIO",))
                    for question in QUESTIONS
                    for way in ("AHIO", "EHIO")
                ),
            ),
            Claim(
                "combining decompositions has the least errors of the questions with a range",
                all(
                    is_below(rows, f"{question}, AHIO-RDC", (f"{question}, AHIO",))
                    for question in ("Q2", "Q3")
                ),
            ),
        ]


class CombinedRanges(Curves):
    """Figure 7: what combining decompositions saves, by the number of ranges of a question."""

    name = "xu-7"
    title = "Squared error against nodes that are added up, ranges of 125 values"
    paper = PAPER
    reproduces = ("xu-figure-7",)
    axes = Axes("ranges", "ratio of squared errors", log_y=True)
    questions: ClassVar[dict[str, int]] = {"quick": 30, "full": 200}
    schemes = named(*RANGE_METHODS)
    points = (1, 2, 3, 4)

    def number(self, scheme: str, point: int, size: Size) -> float:
        return gains(point, self.questions[size])[scheme]

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        combined = {count: values_of(rows, f"RDC, k = {count}") for count in (2, 4, 8, 16)}
        pairs = list(pairwise(combined.values()))
        return [
            Claim(
                "combining lowers the error, and the more the more ranges there are",
                all(max(e) < 1 and e == sorted(e, reverse=True) for e in combined.values()),
            ),
            Claim(
                "a larger k pays with more ranges",
                all(more[-1] / fewer[-1] < more[0] / fewer[0] for fewer, more in pairs),
            ),
            Claim(
                "the gain over a single decomposition is below k",
                all(is_below(rows, "smallest signed", (f"RDC, k = {k}",), 1 / k) for k in combined),
            ),
        ]


class AgesInACity(Experiment):
    """Figure 9: people of a city by age, over households joined with their persons.

    Errors are those of the formula, and those that the reports of one collection tell.
    """

    name = "xu-9"
    title = "NMSE of COUNT of ages in a city, all households of a state"
    paper = PAPER
    reproduces = ("xu-figure-9",)
    axes = Axes("ages", "NMSE", log_y=True)
    households: ClassVar[dict[str, int]] = {"quick": 150_000, "full": 600_000}

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for (low, high), state in steps(list(product(AGES, ("IL", "IN"))), progress):
            for epsilon in (2.0, 5.0):
                homes = Homes(self.households[size], epsilon, state)
                condition = homes.aged(low, high)
                stated = (homes.stated_error(condition) / PERSONS) ** 2
                rows.append(FigureRow(f"{state}, eps {epsilon:g}", f"{low}-{high}", stated))
                if (state, epsilon) == ("IL", 5.0):
                    told = (homes.told_error(condition) / PERSONS) ** 2
                    rows.append(FigureRow("IL, eps 5, by its reports", f"{low}-{high}", told))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(
                "errors are an order smaller at epsilon 5 than at 2",
                is_below(rows, "IL, eps 5", ("IL, eps 2",), factor=10)
                and is_below(rows, "IN, eps 5", ("IN, eps 2",), factor=10),
            ),
        ]


class Groups(Experiment):
    """Figure 11: one run of counts by race; at full size of all households of Illinois."""

    name = "xu-11"
    title = "People of a city by race, one run, epsilon 5"
    paper = PAPER
    reproduces = ("xu-figure-11",)
    axes = Axes("race", "persons")
    households: ClassVar[dict[str, int]] = {"quick": 150_000, "full": round(ALL_HOUSEHOLDS)}

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        homes = Homes(self.households[size])
        rows = []
        for race in steps(list(RACES), progress):
            condition = homes.of_race(race)
            rows.append(FigureRow("true", race, homes.truth(condition)))
            rows.append(FigureRow("estimated", race, homes.estimate(condition)))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        estimated = values_of(rows, "estimated")
        return [
            Claim(
                "the trend is preserved: the largest group is first", estimated[0] == max(estimated)
            )
        ]


class GroupErrors(Experiment):
    """Figure 12: the errors of counts by race."""

    name = "xu-12"
    title = "NMSE of COUNT of people of a city by race, epsilon 5"
    paper = PAPER
    reproduces = ("xu-figure-12",)
    axes = Axes("race", "NMSE", log_y=True)
    households = AgesInACity.households

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        homes = Homes(self.households[size])
        rows = []
        for race in steps(list(RACES), progress):
            condition = homes.of_race(race)
            for series, error in (
                ("by the formula", homes.stated_error(condition)),
                ("by the reports", homes.told_error(condition)),
            ):
                rows.append(FigureRow(series, race, (error / PERSONS) ** 2))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = [values_of(rows, series) for series in series_of(rows)]
        return [
            Claim(
                "errors are nearly equal across the groups (a factor of 3)",
                all(max(errors) < 3 * min(errors) for errors in found),
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
        unheld, held = second_moments(scheme / (1 + point))
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
